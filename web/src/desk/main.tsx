import { render } from 'preact'
import { readJson } from '../shared/page'
import '../shared/theme.css'

function App({ title }: { title: string }) {
  return <h1>{title}</h1>
}

render(<App title={readJson<{ title: string }>('page').title} />, document.body)
