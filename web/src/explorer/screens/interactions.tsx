// The list of interactions: filters at the left, the share that fails above, rows in the middle; keyboard all through.
import { useEffect, useRef, useState } from 'preact/hooks'
import { decided, isFailing, loadMetrics, page, primary, rows, texts as blocks } from '../data'
import { download, toCsv } from '../csv'
import { formatCount, formatInterval, formatNumber, formatPercent } from '../format'
import { facets as allFacets, selectedOf } from '../filter'
import type { Facet } from '../filter'
import { Intervals, Loading, Name, Select, useReady } from '../parts'
import { change, go, link, parse } from '../route'
import type { Route } from '../route'
import { isFilter, useSelected } from '../selection'
import type { Selected } from '../selection'
import { texts } from '../texts'

const words = texts.interactions
// the style sheet has the same height
const ROW_HEIGHT = 62
const SHOWN_VALUES = 6

export function Interactions({ route }: { route: Route }) {
  const { params } = route
  const selected = useSelected(params)
  const hasTexts = useReady(() => blocks.load(['query', 'answer']), [])
  const set = (changes: Record<string, string | string[]>, replace = false) =>
    go(link('interactions', '', change(params, { ...changes, at: '' })), replace)
  return (
    <main class="interactions" id="content">
      <h1 class="hidden">{words.title}</h1>
      <aside class="facets" aria-label={words.filters}>
        <input
          id="search"
          type="search"
          value={params.get('q') ?? ''}
          placeholder={words.search}
          aria-label={words.search}
          onInput={(event) => set({ q: event.currentTarget.value }, true)}
        />
        {selected &&
          selected.facets.map((facet, index) => (
            <FacetBox
              key={facet.key}
              facet={facet}
              counts={selected.counts[index]!}
              params={params}
              onChange={(values) => set({ [facet.key]: values })}
            />
          ))}
      </aside>
      <div class="listing">
        <Toolbar params={params} set={set} selected={selected} />
        {!selected || !hasTexts ? (
          <Loading />
        ) : selected.chosen.length ? (
          <List params={params} selected={selected} />
        ) : (
          <p class="empty">{words.none}</p>
        )}
      </div>
    </main>
  )
}

function FacetBox(props: { facet: Facet; counts: Int32Array; params: URLSearchParams; onChange: (values: string[]) => void }) {
  const { facet, counts, params } = props
  const [isOpen, setOpen] = useState(false)
  const selected = selectedOf(facet, params)
  // values that were chosen stay in sight, though nothing else may pass them
  const values = facet.labels.map((_, value) => value).filter((value) => counts[value]! > 0 || selected.has(value))
  if (!values.length) return null
  const shown = isOpen ? values : values.filter((value, place) => place < SHOWN_VALUES || selected.has(value))
  const hidden = values.length - shown.length
  return (
    <fieldset>
      <legend>{facet.title}</legend>
      {shown.map((value) => (
        <label key={value}>
          <input
            type="checkbox"
            data-facet={facet.key}
            data-value={facet.labels[value]}
            checked={selected.has(value)}
            onChange={() => {
              const chosen = new Set(selected)
              if (!chosen.delete(value)) chosen.add(value)
              props.onChange([...chosen].map((each) => facet.labels[each]!))
            }}
          />
          <span class="label">
            <Name>{facet.labels[value]!}</Name>
          </span>
          <span class="count">{formatCount(counts[value]!)}</span>
        </label>
      ))}
      {(hidden > 0 || isOpen) && values.length > SHOWN_VALUES && (
        <button type="button" class="plain" onClick={() => setOpen(!isOpen)}>
          {isOpen ? words.fewer : words.more(hidden)}
        </button>
      )}
    </fieldset>
  )
}

function Toolbar(props: {
  params: URLSearchParams
  set: (changes: Record<string, string | string[]>) => void
  selected: Selected | null
}) {
  const { params, set, selected } = props
  const metrics = [...primary, ...page.metrics.map((_, index) => index).filter((index) => !page.metrics[index]!.isPrimary)]
  const names = metrics.map((metric) => page.metrics[metric]!.name)
  const main = page.metrics[page.mainMetric]!.name
  const chips = [...params].filter(([name]) => isFilter(name))
  return (
    <header class="toolbar">
      <div class="row">
        {selected && <Count selected={selected} />}
      </div>
      <div class="row">
        <Select
          label={words.metric}
          value={params.get('metric') ?? main}
          options={decided.map((metric) => [page.metrics[metric]!.name, page.metrics[metric]!.name])}
          onChange={(metric) => set({ metric: metric === main ? '' : metric })}
        />
        <Select
          label={words.status}
          value={params.get('status') ?? ''}
          options={[['', words.anyStatus], ...page.statuses.map((status): [string, string] => [status, status.replaceAll('_', ' ')])]}
          onChange={(status) => set({ status })}
        />
        <Select
          label={words.sort}
          value={params.get('sort') ?? 'worst'}
          options={[['worst', words.worst], ...names.map((name): [string, string] => [name, words.worstBy(name)])]}
          onChange={(sort) => set({ sort: sort === 'worst' ? '' : sort })}
        />
        <label class="check">
          <input type="checkbox" checked={params.has('best')} onChange={() => set({ best: params.has('best') ? '' : '1' })} />
          {words.reverse}
        </label>
        <span class="spring" />
        <button type="button" disabled={!selected} onClick={() => selected && void exportRows(selected)}>
          {words.export}
        </button>
      </div>
      {chips.length > 0 && (
        <div class="chips">
          {chips.map(([name, value]) => (
            <button
              type="button"
              class="chip"
              key={name + value}
              aria-label={words.remove(titleOf(name), value)}
              onClick={() => set({ [name]: params.getAll(name).filter((each) => each !== value) })}
            >
              {titleOf(name)}: <b>{value}</b> <span aria-hidden="true">×</span>
            </button>
          ))}
          <button type="button" class="plain" onClick={() => set(Object.fromEntries(chips.map(([name]) => [name, ''])))}>
            {words.clear}
          </button>
        </div>
      )}
    </header>
  )
}

const titleOf = (name: string): string => (name === 'q' ? 'text' : name.replace(/^d\./, '').replaceAll('_', ' '))

function Count({ selected }: { selected: Selected }) {
  const { rate, metric, chosen } = selected
  const name = page.metrics[metric]!.name
  const confidence = `${Number((100 * page.confidence).toPrecision(6))} %`
  return (
    <p class="rate" role="status">
      <data id="count" value={chosen.length}>
        {words.count(formatCount(chosen.length), formatCount(rows.integers('cluster').length))}
      </data>
      {rate.count > 0 ? (
        <span class="share" title={words.method(formatCount(rate.count), formatCount(rate.countClusters), confidence)}>
          <Intervals values={[{ value: rate.share, low: rate.low, high: rate.high }]} />
          <data id="share" value={rate.share} data-low={rate.low} data-high={rate.high} data-clusters={rate.countClusters}>
            {words.rate(formatPercent(rate.share), formatInterval(rate.low, rate.high, formatPercent), name)}
          </data>
        </span>
      ) : (
        <span class="quiet">{words.noRate(name)}</span>
      )}
      {rate.count > 0 && <span class="quiet method">{words.methodShort(confidence)}</span>}
    </p>
  )
}

function List({ params, selected }: { params: URLSearchParams; selected: Selected }) {
  const { chosen, metric, sort } = selected
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(600)
  const at = Math.max(0, Math.min(Number(params.get('at')) || 0, chosen.length - 1))
  const sortMetric = page.metrics.findIndex((each) => each.name === sort)
  const shownMetrics = [...new Set([metric, ...(sortMetric >= 0 ? [sortMetric] : [])])]

  useEffect(() => {
    const element = box.current!
    const measure = () => setHeight(element.clientHeight)
    measure()
    addEventListener('resize', measure)
    // the arrow keys work at once, unless the reader is somewhere else
    if (document.activeElement === document.body) element.focus({ preventScroll: true })
    return () => removeEventListener('resize', measure)
  }, [])
  useEffect(() => {
    const element = box.current!
    const place = at * ROW_HEIGHT
    if (place < element.scrollTop) element.scrollTop = place
    else if (place + ROW_HEIGHT > element.scrollTop + element.clientHeight)
      element.scrollTop = place + ROW_HEIGHT - element.clientHeight
  }, [at, chosen])

  const address = (place: number) => link('interaction', rows.texts('id')[chosen[place]!]!, change(params, { at: String(place) }))
  // a key that is held comes faster than pictures: the address knows the row before the list does
  const reached = () => Number(parse(location.hash).params.get('at')) || 0
  const move = (place: number) => {
    const next = Math.max(0, Math.min(chosen.length - 1, place))
    go(link('interactions', '', change(params, { at: String(next) })), true)
  }
  const onKey = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / ROW_HEIGHT) - 1)
    const now = Math.min(reached(), chosen.length - 1)
    const places: Record<string, number> = {
      ArrowDown: now + 1, j: now + 1, ArrowUp: now - 1, k: now - 1,
      PageDown: now + page, PageUp: now - page, Home: 0, End: chosen.length - 1,
    }
    if (event.key in places && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault()
      move(places[event.key]!)
    } else if (event.key === 'Enter') {
      go(address(now))
    }
  }
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - 4)
  const last = Math.min(chosen.length, Math.ceil((top + height) / ROW_HEIGHT) + 4)
  const places = Array.from({ length: last - first }, (_, index) => first + index)
  // the active row is named to assistive technology, so it is always drawn
  if (at < first) places.unshift(at)
  if (at >= last) places.push(at)
  return (
    <div
      class="list"
      ref={box}
      role="listbox"
      tabIndex={0}
      id="list"
      aria-label={words.list}
      aria-activedescendant={`row-${at}`}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKey}
    >
      <div class="runway" role="presentation" style={{ height: `${chosen.length * ROW_HEIGHT}px` }}>
        {places.map((place) => (
          <Row
            key={place}
            row={chosen[place]!}
            place={place}
            count={chosen.length}
            isActive={place === at}
            metrics={shownMetrics}
            onOpen={() => go(address(place))}
          />
        ))}
      </div>
    </div>
  )
}

function Row(props: { row: number; place: number; count: number; isActive: boolean; metrics: number[]; onOpen: () => void }) {
  const { row, place, metrics } = props
  const text = rows.integers('text')[row]!
  const query = text < 0 ? rows.texts('id')[row]! : blocks.texts('query')[text]!
  const answer = text < 0 ? words.noText : blocks.texts('answer')[text]! || words.emptyAnswer
  const version = rows.integers('version')[row]!
  const outcome = page.outcomes[rows.integers('outcome')[row]!]!
  const failing = decided.filter((metric) => isFailing(rows.integers(`status_${metric}`)[row]!))
  const label = rows.integers('label')[row]!
  return (
    <div
      class={`item ${props.isActive ? 'active' : ''}`}
      role="option"
      id={`row-${place}`}
      aria-selected={props.isActive}
      aria-posinset={place + 1}
      aria-setsize={props.count}
      style={{ top: `${place * ROW_HEIGHT}px` }}
      onClick={props.onOpen}
    >
      <div class="what">
        <p class="query" dir="auto">
          {query.slice(0, 300)}
        </p>
        <p class={text < 0 ? 'answer quiet' : 'answer'} dir="auto">
          {answer.slice(0, 300)}
        </p>
      </div>
      <div class="facts">
        {version >= 0 && <span class="tag">{page.versions[version]}</span>}
        {outcome !== 'answered' && <span class="tag strong">{outcome}</span>}
        {page.labels[label] !== 'not rated' && <span class="tag">label: {page.labels[label]}</span>}
      </div>
      <div class="scores">
        {metrics.map((metric) => {
          const value = rows.numbers(`score_${metric}`)[row]!
          const isBad = isFailing(rows.integers(`status_${metric}`)[row]!)
          return (
            <span key={metric} class={isBad ? 'score bad' : 'score'} title={page.metrics[metric]!.name}>
              {isBad && <span aria-hidden="true">✕ </span>}
              {formatNumber(value)}
            </span>
          )
        })}
        <span class={failing.length ? 'failing bad' : 'failing quiet'} title={failing.map((each) => page.metrics[each]!.name).join(', ')}>
          {words.failing(failing.length)}
        </span>
      </div>
    </div>
  )
}

async function exportRows(selected: Selected): Promise<void> {
  const metrics = [...new Set([...primary, selected.metric])]
  await Promise.all([loadMetrics(metrics), blocks.load(['query', 'answer'])])
  const shown = allFacets()
  const header = [
    'interaction_id', ...shown.map((facet) => facet.title), 'weight', 'query', 'answer',
    ...metrics.flatMap((metric) => [page.metrics[metric]!.name, `${page.metrics[metric]!.name} fails`]),
  ]
  const lines = [...selected.chosen].map((row) => {
    const text = rows.integers('text')[row]!
    return [
      rows.texts('id')[row]!,
      ...shown.map((facet) => facet.members[facet.codes[row]!]!.map((value) => facet.labels[value]).join('|')),
      rows.numbers('weight')[row]!,
      text < 0 ? '' : blocks.texts('query')[text]!,
      text < 0 ? '' : blocks.texts('answer')[text]!,
      ...metrics.flatMap((metric) => {
        const value = rows.numbers(`score_${metric}`)[row]!
        const word = rows.integers(`status_${metric}`)[row]!
        return [Number.isFinite(value) ? Number(value.toPrecision(4)) : '', word < 0 || word % 3 === 0 ? '' : String(isFailing(word))]
      }),
    ]
  })
  download('interactions.csv', 'text/csv', toCsv(header, lines))
}
