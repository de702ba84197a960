import { render } from 'preact'
import { useEffect, useErrorBoundary, useState } from 'preact/hooks'
import '../shared/theme.css'
import './explorer.css'
import { page } from './data'
import { formatCount } from './format'
import { go, link, useRoute } from './route'
import type { Route } from './route'
import { Drift } from './screens/drift'
import { Findings } from './screens/findings'
import { Interaction } from './screens/interaction'
import { Interactions } from './screens/interactions'
import { WeaknessMap } from './screens/map'
import { Overview } from './screens/overview'
import { Retrieval } from './screens/retrieval'
import { Versions } from './screens/versions'
import { texts } from './texts'

// a map, because an object also has names that nobody gave it, and the address holds any name
const SCREENS = new Map<string, (props: { route: Route }) => preact.JSX.Element | null>([
  ['overview', Overview],
  ['interactions', Interactions],
  ['map', WeaknessMap],
  ['versions', Versions],
  ['findings', Findings],
  ['drift', Drift],
  ['retrieval', Retrieval],
])

function App() {
  const route = useRoute()
  const [isHelping, setHelping] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return
      if (event.key === '?') setHelping(true)
      else if (event.key === '/') {
        event.preventDefault()
        const box = document.getElementById('search')
        if (box) box.focus()
        else go(link('interactions'))
      }
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const current = route.screen === 'interaction' ? 'interactions' : route.screen
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        {texts.skip}
      </a>
      <header class="top">
        <a class="brand" href={link('overview')}>
          {texts.name}
        </a>
        <nav aria-label="Screens">
          {[...SCREENS.keys()].map((name) => (
            <a key={name} href={link(name)} aria-current={name === current ? 'page' : undefined}>
              {texts.screens[name]}
            </a>
          ))}
        </nav>
        <span class="spring" />
        <span class={`verdict ${page.verdict.state}`}>{page.verdict.word}</span>
        <CopyLink />
        <button type="button" class="plain" onClick={() => setHelping(true)}>
          {texts.keys}
        </button>
      </header>
      <Notices />
      <Guarded key={route.screen} route={route} />
      {isHelping && <Keys onClose={() => setHelping(false)} />}
    </>
  )
}

/** The address holds the screen with its filters and its place: who has the file sees the same. */
function CopyLink() {
  const [said, setSaid] = useState('')
  const copy = async () => {
    setSaid(await navigator.clipboard.writeText(location.href).then(() => texts.copied, () => texts.copyFailed))
    setTimeout(() => setSaid(''), 2500)
  }
  return (
    <button type="button" class="plain" onClick={() => void copy()} aria-live="polite">
      {said || texts.copyLink}
    </button>
  )
}

// the fragment holds the state of the screen, so the link cannot use it
function skip(event: Event): void {
  event.preventDefault()
  const content = document.getElementById('content')
  content?.setAttribute('tabindex', '-1')
  content?.focus()
}

function Guarded({ route }: { route: Route }) {
  const [problem] = useErrorBoundary()
  useEffect(() => {
    const name = route.screen === 'interaction' ? 'interactions' : route.screen
    document.title = SCREENS.has(name) ? `${texts.screens[name]} · ${texts.name}` : texts.name
  }, [route.screen])
  if (problem) {
    return (
      <main id="content" class="page">
        <h1>{texts.broken}</h1>
        <p>{String(problem)}</p>
      </main>
    )
  }
  const Screen = route.screen === 'interaction' ? Interaction : SCREENS.get(route.screen)
  if (!Screen) {
    return (
      <main id="content" class="page">
        <h1>{texts.unknownScreen(route.screen)}</h1>
      </main>
    )
  }
  return <Screen route={route} />
}

function Notices() {
  const { countAll, countRows, countDrawn, weight, countTexts, countTextsDrawn } = page.sampling
  return (
    <>
      {page.isUnmasked && <p class="notice strong">{texts.unmasked}</p>}
      {countRows < countAll && (
        <p class="notice">
          {texts.sampled(
            formatCount(countRows), formatCount(countAll), formatCount(countRows - countDrawn), formatCount(countDrawn),
            weight.toPrecision(3),
          )}
        </p>
      )}
      {countTexts < countRows && (
        <p class="notice">
          {texts.textsLeftOut(
            formatCount(countTexts), formatCount(countRows), formatCount(countTexts - countTextsDrawn), formatCount(countTextsDrawn),
          )}
        </p>
      )}
    </>
  )
}

function Keys({ onClose }: { onClose: () => void }) {
  useEffect(() => {
    const dialog = document.getElementById('keys') as HTMLDialogElement
    if (!dialog.open) dialog.showModal()
  }, [])
  return (
    <dialog id="keys" aria-labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">{texts.keysTitle}</h2>
      <dl>
        {texts.keyLines.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => (document.getElementById('keys') as HTMLDialogElement).close()}>
        {texts.close}
      </button>
    </dialog>
  )
}

// the body holds the data too, which is read when it is needed
const root = document.createElement('div')
root.id = 'app'
document.body.append(root)
render(<App />, root)
