// Retrieval: the ranked list of each interaction against what was judged relevant, the worst ranking first.
import { useMemo, useState } from 'preact/hooks'
import { loadRows, page, rows, texts as blocks } from '../data'
import { formatCount, formatPercent } from '../format'
import { Loading, Select, useReady } from '../parts'
import { change, go, link } from '../route'
import type { Route } from '../route'
import { texts } from '../texts'

const words = texts.retrieval
const PAGE_ROWS = 100
const FILTERS = ['system', 'topic']

interface Ranking {
  row: number
  grades: number[]
  first: number
  missed: number
}

export function Retrieval({ route }: { route: Route }) {
  const { params } = route
  const [count, setCount] = useState(PAGE_ROWS)
  const isReady = useReady(
    () => Promise.all([loadRows(), rows.load(['grades', 'missed']), blocks.load(['query', 'answer'])]),
    [],
  )
  // [dimension, segment] by which the rankings are filtered; a segment of -1 takes all
  const chosen = FILTERS.map((name): [number, number] => {
    const dimension = page.dimensions.findIndex((each) => each.name === name)
    return [dimension, page.dimensions[dimension]?.segments.indexOf(params.get(name) ?? '') ?? -1]
  })
  const rankings = useMemo(() => (isReady ? rank(chosen) : null), [isReady, params])
  if (!rankings) return <main id="content" class="page"><Loading /></main>
  if (!rankings.length && chosen.every(([, segment]) => segment < 0)) {
    return (
      <main id="content" class="page">
        <h1>{words.title}</h1>
        <p>{words.none}</p>
      </main>
    )
  }
  const share = (number: number) => formatPercent(number / rankings.length)
  const atTop = rankings.filter((ranking) => ranking.first === 1).length
  const never = rankings.filter((ranking) => ranking.first === Infinity).length
  return (
    <main id="content" class="page">
      <div class="row">
        <h1>{words.title}</h1>
        <span class="spring" />
        {chosen.map(
          ([dimension], index) =>
            dimension >= 0 && (
              <Select
                key={dimension}
                label={FILTERS[index]!}
                value={params.get(FILTERS[index]!) ?? ''}
                options={[['', texts.overview.all], ...page.dimensions[dimension]!.segments.map((name): [string, string] => [name, name])]}
                onChange={(value) => go(link('retrieval', '', change(params, { [FILTERS[index]!]: value })))}
              />
            ),
        )}
      </div>
      <p>{words.summary(formatCount(rankings.length), share(atTop), share(never))}</p>
      <p class="quiet">{words.note}</p>
      <table class="table rankings">
        <thead>
          <tr>
            {words.columns.map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rankings.slice(0, count).map((ranking) => (
            <Line key={ranking.row} ranking={ranking} />
          ))}
        </tbody>
      </table>
      {rankings.length > count && (
        <button type="button" onClick={() => setCount(count + PAGE_ROWS)}>
          {texts.interactions.more(rankings.length - count)}
        </button>
      )}
    </main>
  )
}

/** Returns the judged rankings: those whose first relevant chunk comes latest first, then those that miss most. */
function rank(chosen: [number, number][]): Ranking[] {
  const filters = chosen.filter(([, segment]) => segment >= 0)
  return rows
    .texts('grades')
    .flatMap((text, row): Ranking[] => {
      if (!text || filters.some(([dimension, segment]) => rows.integers(`dimension_${dimension}`)[row] !== segment)) return []
      const grades = text.split(',').map(Number)
      const place = grades.findIndex((grade) => grade > 0)
      return [{ row, grades, first: place < 0 ? Infinity : place + 1, missed: rows.integers('missed')[row]! }]
    })
    .sort((a, b) => (a.first === b.first ? b.missed - a.missed || a.row - b.row : b.first > a.first ? 1 : -1))
}

function Line({ ranking }: { ranking: Ranking }) {
  const { row, grades, first, missed } = ranking
  const text = rows.integers('text')[row]!
  const version = rows.integers('version')[row]!
  const relevant = grades.flatMap((grade, place) => (grade > 0 ? [place + 1] : []))
  const size = 18
  return (
    <tr>
      <td>
        <svg
          class="ranks"
          viewBox={`0 0 ${grades.length * size} ${size}`}
          width={grades.length * size}
          height={size}
          role="img"
          aria-label={words.ranking(relevant.join(', ') || words.never)}
        >
          {grades.map((grade, place) => (
            <g key={place}>
              <rect class={grade > 0 ? 'relevant' : 'other'} x={place * size + 1.5} y={1.5} width={size - 3} height={size - 3} />
              <text class={grade > 0 ? 'inside' : 'tick'} x={place * size + size / 2} y={size - 5} text-anchor="middle">
                {place + 1}
              </text>
            </g>
          ))}
        </svg>
      </td>
      <td>{first === Infinity ? <b class="bad">✕ {words.never}</b> : first}</td>
      <td>{missed > 0 ? words.missed(missed) : ''}</td>
      <th scope="row">
        <a href={link('interaction', rows.texts('id')[row]!)} dir="auto">
          {text < 0 ? rows.texts('id')[row] : blocks.texts('query')[text]!.slice(0, 200)}
        </a>{' '}
        {version >= 0 && <span class="tag">{page.versions[version]}</span>}
      </th>
    </tr>
  )
}
