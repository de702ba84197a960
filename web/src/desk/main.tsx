import { render } from 'preact'
import { useState } from 'preact/hooks'
import { readJson } from '../shared/page'
import '../shared/theme.css'
import './desk.css'
import type { DeskData } from './data'
import { Rating } from './rating'
import { Start } from './start'

function App({ data }: { data: DeskData }) {
  const [begun, begin] = useState<{ name: string; place: number } | null>(null)
  const rater = begun && data.raters[begun.place]
  if (!begun || !rater) return <Start data={data} onBegin={(name, place) => begin({ name, place })} />
  return <Rating data={data} rater={rater} name={begun.name} />
}

render(<App data={readJson<DeskData>('desk')} />, document.body)
