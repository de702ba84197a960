// The list of interactions: filters at the left, the share that fails above, rows in the middle; keyboard all through.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { chunks, decided, isFailing, isVerdict, loadMetrics, page, primary, rows, texts as blocks } from '../data'
import { download } from '../../shared/sheet'
import { toCsv } from '../csv'
import { formatCount, formatInterval, formatNumber, formatPercent } from '../format'
import { facets as allFacets, selectedOf } from '../filter'
import type { Facet } from '../filter'
import { Intervals, Loading, Name, Select, useReady } from '../parts'
import { change, go, link, parse } from '../route'
import type { Route } from '../route'
import { isFilter, useSelected } from '../selection'
import type { Selected } from '../selection'
import { texts } from '../texts'
import type { Detail } from '../types'
import { decidingOf } from './interaction'
import { slicer } from '../words'

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
        <Select
          label={words.rows}
          value={params.get('each') ?? ''}
          options={Object.entries(words.rowKinds)}
          onChange={(each) => set({ each })}
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

const TITLES: Record<string, string> = { q: 'text', use: 'counted in', drawn: 'drawn for rating', fails: 'beyond its threshold' }
const titleOf = (name: string): string => TITLES[name] ?? name.replace(/^[df]\./, '').replaceAll('_', ' ')

function Count({ selected }: { selected: Selected }) {
  const { rate, metric, chosen, isCell } = selected
  const name = page.metrics[metric]!.name
  const confidence = `${Number((100 * page.confidence).toPrecision(6))} %`
  return (
    <p class="rate" role="status">
      <data id="count" value={chosen.length}>
        {words.count(formatCount(chosen.length), formatCount(rows.integers('cluster').length))}
      </data>
      {rate.count > 0 ? (
        <span class="share" title={isCell ? words.ofCell : words.method(formatCount(rate.count), formatCount(rate.countClusters), confidence)}>
          <Intervals values={[{ value: rate.share, low: rate.low, high: rate.high }]} />
          <data id="share" value={rate.share} data-low={rate.low} data-high={rate.high} data-clusters={rate.countClusters}>
            {words.rate(
              formatPercent(rate.share), formatInterval(rate.low, rate.high, formatPercent), formatCount(rate.count),
              isVerdict(metric) ? '' : name,
            )}
          </data>
        </span>
      ) : (
        <span class="quiet">{words.noRate(name)}</span>
      )}
      {rate.count > 0 && <span class="quiet method">{isCell ? words.ofCell : words.methodShort(confidence)}</span>}
    </p>
  )
}

/** A line of the list: an answer, or the first of several answers to one question, which open below it. */
interface Line {
  place: number
  /** Answers of the group, if this line heads it. */
  size: number
  isOpen: boolean
  isInside: boolean
}

function linesOf(chosen: Int32Array, isGrouped: boolean, isOpen: (question: number, start: number, end: number) => boolean): Line[] {
  const questions = rows.integers('question')
  const lines: Line[] = []
  for (let start = 0, end = 0; start < chosen.length; start = end) {
    const question = questions[chosen[start]!]!
    end = start + 1
    while (isGrouped && end < chosen.length && questions[chosen[end]!] === question) end++
    const isShown = isOpen(question, start, end)
    lines.push({ place: start, size: end - start, isOpen: isShown, isInside: false })
    for (let place = start + 1; isShown && place < end; place++) lines.push({ place, size: 1, isOpen: false, isInside: true })
  }
  return lines
}

/** Returns how many wordings the answers of a group have. */
function countWordings(chosen: Int32Array, { place, size }: Line): number {
  const query = (row: number) => {
    const text = rows.integers('text')[row]!
    return text < 0 ? rows.integers('query')[row]! : blocks.texts('query')[text]!.trim().toLowerCase()
  }
  return new Set([...chosen.subarray(place, place + size)].map(query)).size
}

function List({ params, selected }: { params: URLSearchParams; selected: Selected }) {
  const { chosen, metric, sort } = selected
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(600)
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const wanted = Math.max(0, Math.min(Number(params.get('at')) || 0, chosen.length - 1))
  const sortMetric = page.metrics.findIndex((each) => each.name === sort)
  const scores = [metric, sortMetric].filter((each) => each >= 0 && !isVerdict(each))
  const shownMetrics = [...new Set(scores.length ? scores : [page.scoreMetric])]
  // an answer within a group that was read opens it
  const lines = useMemo(
    () => linesOf(chosen, !params.has('each'), (question, start, end) => opened.has(question) || (start < wanted && wanted < end)),
    [chosen, opened, wanted, params],
  )
  const at = Math.max(0, lines.findIndex((line) => line.place === wanted))

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

  const address = (line: Line) => link('interaction', rows.texts('id')[chosen[line.place]!]!, change(params, { at: String(line.place) }))
  // a key that is held comes faster than pictures: the address knows the row before the list does
  const reached = () => {
    const place = Number(parse(location.hash).params.get('at')) || 0
    return Math.max(0, lines.findLastIndex((line) => line.place <= place))
  }
  const move = (index: number) => {
    const next = lines[Math.max(0, Math.min(lines.length - 1, index))]!
    go(link('interactions', '', change(params, { at: String(next.place) })), true)
  }
  const turn = (line: Line, isOpen: boolean) => {
    const question = rows.integers('question')[chosen[line.place]!]!
    setOpened(new Set(isOpen ? [...opened, question] : [...opened].filter((each) => each !== question)))
  }
  const onKey = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / ROW_HEIGHT) - 1)
    const now = reached()
    const line = lines[now]!
    const places: Record<string, number> = {
      ArrowDown: now + 1, j: now + 1, ArrowUp: now - 1, k: now - 1,
      PageDown: now + page, PageUp: now - page, Home: 0, End: lines.length - 1,
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key in places) {
      event.preventDefault()
      move(places[event.key]!)
    } else if (event.key === 'Enter') {
      go(address(line))
    } else if (event.key === 'ArrowRight' && line.size > 1) {
      turn(line, true)
    } else if (event.key === 'ArrowLeft') {
      const head = lines.slice(0, now + 1).findLastIndex((each) => !each.isInside)
      move(head)
      turn(lines[head]!, false)
    }
  }
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - 4)
  const last = Math.min(lines.length, Math.ceil((top + height) / ROW_HEIGHT) + 4)
  const drawn = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index)
  // the active row is named to assistive technology, so it is always drawn
  if (at < first) drawn.unshift(at)
  if (at >= last) drawn.push(at)
  return (
    <div
      class="list"
      ref={box}
      role="tree"
      tabIndex={0}
      id="list"
      aria-label={words.list}
      aria-activedescendant={`row-${at}`}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKey}
    >
      <div class="runway" role="presentation" style={{ height: `${lines.length * ROW_HEIGHT}px` }}>
        {drawn.map((index) => (
          <Row
            key={index}
            row={chosen[lines[index]!.place]!}
            line={lines[index]!}
            wordings={lines[index]!.size > 1 ? countWordings(chosen, lines[index]!) : 1}
            index={index}
            count={lines.length}
            isActive={index === at}
            metrics={shownMetrics}
            onOpen={() => go(address(lines[index]!))}
            onTurn={() => turn(lines[index]!, !lines[index]!.isOpen)}
          />
        ))}
      </div>
    </div>
  )
}

function Row(props: {
  row: number
  line: Line
  wordings: number
  index: number
  count: number
  isActive: boolean
  metrics: number[]
  onOpen: () => void
  onTurn: () => void
}) {
  const { row, line, index, metrics } = props
  const text = rows.integers('text')[row]!
  const query = text < 0 ? rows.texts('id')[row]! : blocks.texts('query')[text]!
  const answer = text < 0 ? words.noText : blocks.texts('answer')[text]! || words.emptyAnswer
  const version = rows.integers('version')[row]!
  const outcome = page.outcomes[rows.integers('outcome')[row]!]!
  const verdict = page.verdicts[rows.integers('verdict')[row]!]!
  const failing = decided.filter((metric) => !isVerdict(metric) && isFailing(rows.integers(`status_${metric}`)[row]!))
  const label = rows.integers('label')[row]!
  return (
    <div
      class={`item ${props.isActive ? 'active' : ''} ${line.isInside ? 'inside' : ''}`}
      role="treeitem"
      id={`row-${index}`}
      aria-selected={props.isActive}
      aria-level={line.isInside ? 2 : 1}
      aria-posinset={index + 1}
      aria-setsize={props.count}
      {...(line.size > 1 ? { 'aria-expanded': line.isOpen } : {})}
      style={{ top: `${index * ROW_HEIGHT}px` }}
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
        {line.size > 1 && (
          <span
            class="tag equal"
            title={line.isOpen ? words.closeGroup : words.openGroup}
            onClick={(event) => {
              event.stopPropagation()
              props.onTurn()
            }}
          >
            {line.isOpen ? '▾' : '▸'} {line.size}
            <span class="long"> {words.equal(props.wordings)}</span>
          </span>
        )}
        {version >= 0 && <span class="tag">{page.versions[version]}</span>}
        {outcome !== 'answered' && <span class="tag strong">{outcome}</span>}
        {page.labels[label] !== 'not rated' && <span class="tag">label: {page.labels[label]}</span>}
      </div>
      <div class="scores">
        <span class={verdict === 'failing' ? 'failing bad' : 'failing quiet'} title={words.beyond(failing.map((each) => page.metrics[each]!.name))}>
          {verdict === 'failing' && <span aria-hidden="true">✕ </span>}
          {verdict}
        </span>
        {metrics.map((metric) => (
          <span key={metric} class="score quiet" title={page.metrics[metric]!.name}>
            {metric === page.scoreMetric ? '' : page.metrics[metric]!.name + ' '}
            {formatNumber(rows.numbers(`score_${metric}`)[row]!)}
          </span>
        ))}
      </div>
    </div>
  )
}

const nameOfColumn = (title: string): string => title.replaceAll(/[^\p{L}\p{N}]+/gu, '_')

/** What stands in the texts of an interaction, as columns of the export. */
const DETAILS: [string, (detail: Detail, answer: string) => string][] = [
  ['asked_at', (detail) => detail.asked_at ?? ''],
  ['verdict_reason', (detail) => detail.verdict_reason ?? ''],
  ['reference_answer', (detail) => detail.reference_answer],
  ['deciding_sentence', (detail, answer) => sentenceOf(detail, answer)],
  ['causes', (detail) => detail.causes.map((cause) => cause.join(' ')).join('|')],
  ['chunk_ids', (detail) => idsOf(detail, false)],
  ['missed_chunk_ids', (detail) => idsOf(detail, true)],
]

function sentenceOf({ sentences }: Detail, answer: string): string {
  const sentence = sentences[decidingOf(sentences)]
  return sentence ? (sentence.place ? slicer(answer)(...sentence.place) : sentence.text) : ''
}

const idsOf = ({ contexts }: Detail, isMissed: boolean): string =>
  contexts.filter(({ rank }) => (rank === null) === isMissed).map(({ chunk }) => chunks.texts('id')[chunk]).join('|')

async function exportRows(selected: Selected): Promise<void> {
  const metrics = [...new Set([...primary, selected.metric])].filter((metric) => !isVerdict(metric))
  await Promise.all([loadMetrics(metrics), blocks.load(['query', 'answer', 'detail']), chunks.load(['id'])])
  const shown = allFacets()
  const header = [
    'interaction_id', 'question', ...shown.map((facet) => nameOfColumn(facet.title)), 'weight', 'query', 'answer',
    ...DETAILS.map(([name]) => name),
    ...metrics.flatMap((metric) => ['', '_threshold', '_fails'].map((part) => `${page.metrics[metric]!.name}${part}`)),
  ]
  const lines = [...selected.chosen].map((row) => {
    const text = rows.integers('text')[row]!
    const answer = text < 0 ? '' : blocks.texts('answer')[text]!
    const detail = text < 0 ? null : (JSON.parse(blocks.texts('detail')[text]!) as Detail)
    return [
      rows.texts('id')[row]!,
      rows.integers('question')[row]!,
      ...shown.map((facet) => facet.members[facet.codes[row]!]!.map((value) => facet.labels[value]).join('|')),
      rows.numbers('weight')[row]!,
      text < 0 ? '' : blocks.texts('query')[text]!,
      answer,
      ...DETAILS.map(([, read]) => (detail ? read(detail, answer) : '')),
      ...metrics.flatMap((metric) => {
        const value = rows.numbers(`score_${metric}`)[row]!
        const word = rows.integers(`status_${metric}`)[row]!
        return [
          Number.isFinite(value) ? Number(value.toPrecision(4)) : '',
          page.metrics[metric]!.threshold ?? '',
          word < 0 || word % 3 === 0 ? '' : String(isFailing(word)),
        ]
      }),
    ]
  })
  download('interactions.csv', toCsv(header, lines))
}
