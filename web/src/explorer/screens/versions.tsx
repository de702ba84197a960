// Versions: the same query in two versions, those that got worse first, with the words marked that only one answer has.
import { useMemo, useState } from 'preact/hooks'
import { isFailing, isJudged, loadMetrics, loadRows, page, primary, rows, texts as blocks } from '../data'
import { formatCount, formatNumber, formatPoints, formatSigned } from '../format'
import { Loading, Marked, Select, useReady } from '../parts'
import { change, go, link } from '../route'
import type { Route } from '../route'
import { metricOf } from '../selection'
import { texts } from '../texts'
import { compareWords } from '../words'
import { Score, useInteraction } from './interaction'

const words = texts.versions
const PAGE_ROWS = 60

/** [application, version] */
type Version = [number, number]

const nameOf = ([application, version]: Version): string => `${page.applications[application]} ${page.versions[version]}`
const isSame = (one: Version, other: Version): boolean => one[0] === other[0] && one[1] === other[1]

interface Pair {
  query: number
  before: number[]
  after: number[]
  change: number
  flip: -1 | 0 | 1
}

export function Versions({ route }: { route: Route }) {
  const { params } = route
  const metric = metricOf(params)
  const isReady = useReady(
    () => Promise.all([loadRows(), loadMetrics([metric]), blocks.load(['query', 'answer'])]),
    [metric],
  )
  const order = page.versionOrder
  const after = order.find((each) => nameOf(each) === params.get('candidate')) ?? order.at(-1)
  const others = order.filter((each) => each !== after && each[0] === after?.[0])
  const before = others.find((each) => nameOf(each) === params.get('baseline')) ?? others.at(-1)
  const only = params.get('only') ?? 'all'
  const pairs = useMemo(() => (isReady && before && after ? pair(before, after, metric) : null), [isReady, before, after, metric])
  if (!isReady) return <main id="content" class="page"><Loading /></main>
  if (!pairs?.length || !before || !after) {
    return (
      <main id="content" class="page">
        <h1>{words.title}</h1>
        <p>{words.none}</p>
      </main>
    )
  }
  const set = (changes: Record<string, string>) => go(link('versions', '', change(params, { query: '', ...changes })))
  const shown = pairs.filter((each) => only === 'all' || (only === 'regressions' ? each.flip < 0 : each.flip > 0))
  const open = shown.find((each) => queryOf(each) === params.get('query')) ?? shown[0]
  const title = (version: Version): string => page.versions[version[1]]!
  const count = (flip: number) => formatCount(pairs.filter((each) => each.flip === flip).length)
  return (
    <main id="content" class="page">
      <div class="row">
        <h1>{words.title}</h1>
        <span class="spring" />
        <Select label={words.baseline} value={nameOf(before)} options={others.map((each) => [nameOf(each), title(each)])} onChange={(baseline) => set({ baseline })} />
        <Select label={words.candidate} value={nameOf(after)} options={order.map((each) => [nameOf(each), nameOf(each)])} onChange={(candidate) => set({ candidate, baseline: '' })} />
        <Select
          label={words.metric}
          value={page.metrics[metric]!.name}
          options={primary.map((each) => [page.metrics[each]!.name, page.metrics[each]!.name])}
          onChange={(value) => set({ metric: value })}
        />
        <Select label={words.only} value={only} options={Object.entries(words.kinds)} onChange={(value) => set({ only: value === 'all' ? '' : value })} />
      </div>
      <p>
        {words.summary(formatCount(pairs.length), count(-1), count(1))} <Verdict before={before} after={after} metric={metric} />
      </p>
      <div class="split">
        <Queries pairs={shown} open={open} metric={metric} onOpen={(each) => go(link('versions', '', change(params, { query: queryOf(each) })), true)} />
        {open ? <Both pair={open} metric={metric} names={[title(before), title(after)]} /> : <p class="quiet">{words.choose}</p>}
      </div>
    </main>
  )
}

/** What the build says of the two versions: its tested difference, never one of this page. */
function Verdict({ before, after, metric }: { before: Version; after: Version; metric: number }) {
  const found = page.comparisons.find(
    (each) => each.metric === metric && isSame(each.baseline, before) && isSame(each.candidate, after),
  )
  if (!found) return null
  const show = found.measurement === 'mean_score' ? formatSigned : formatPoints
  return (
    <span>
      <span class={`state ${found.verdict}`}>{words.verdicts[found.verdict] ?? found.verdict}</span>{' '}
      {found.difference !== null && (
        <span class="quiet">
          {words.difference} ({words.measurement[found.measurement] ?? found.measurement}): {show(found.difference)} [{show(found.low)},{' '}
          {show(found.high)}]
        </span>
      )}
    </span>
  )
}

const queryOf = (pair: Pair): string => rows.texts('id')[pair.after[0]!]!

/** Returns the queries that both versions answered: those that now fail first, then the largest losses. */
function pair(before: Version, after: Version, metric: number): Pair[] {
  const [queries, applications, versions] = [rows.integers('query'), rows.integers('application'), rows.integers('version')]
  const found = new Map<number, Pair>()
  for (let row = 0; row < queries.length; row++) {
    const own: Version = [applications[row]!, versions[row]!]
    const isOld = isSame(own, before)
    const isNow = isSame(own, after)
    if (!isOld && !isNow) continue
    const query = queries[row]!
    if (!found.has(query)) found.set(query, { query, before: [], after: [], change: NaN, flip: 0 })
    found.get(query)![isOld ? 'before' : 'after'].push(row)
  }
  const sign = page.metrics[metric]!.isHigherBetter ? 1 : -1
  const pairs = [...found.values()].filter((each) => each.before.length && each.after.length)
  for (const each of pairs) {
    each.change = (mean(each.after, metric) - mean(each.before, metric)) * sign
    const [was, is] = [shareFailing(each.before, metric), shareFailing(each.after, metric)]
    each.flip = was < 0.5 && is >= 0.5 ? -1 : was >= 0.5 && is < 0.5 ? 1 : 0
  }
  const loss = (each: Pair) => (Number.isNaN(each.change) ? Infinity : each.change)
  return pairs.sort((a, b) => rankOf(a.flip) - rankOf(b.flip) || loss(a) - loss(b) || a.after[0]! - b.after[0]!)
}

const rankOf = (flip: number): number => (flip < 0 ? 0 : 1)

function mean(of: number[], metric: number): number {
  const scores = of.map((row) => rows.numbers(`score_${metric}`)[row]!).filter(Number.isFinite)
  return scores.length ? scores.reduce((a, b) => a + b, 0) / scores.length : NaN
}

function shareFailing(of: number[], metric: number): number {
  const judged = of.map((row) => rows.integers(`status_${metric}`)[row]!).filter(isJudged)
  return judged.length ? judged.filter(isFailing).length / judged.length : NaN
}

function Queries(props: { pairs: Pair[]; open: Pair | undefined; metric: number; onOpen: (pair: Pair) => void }) {
  const [count, setCount] = useState(PAGE_ROWS)
  const { pairs, open, metric } = props
  return (
    <div class="side pairs">
      <ol>
        {pairs.slice(0, count).map((each) => {
          const text = rows.integers('text')[each.after[0]!]!
          return (
            <li key={each.query}>
              <button type="button" aria-pressed={each === open} onClick={() => props.onOpen(each)}>
                <b dir="auto">{text < 0 ? queryOf(each) : blocks.texts('query')[text]!.slice(0, 160)}</b>
                <span class="row">
                  <span class="number">
                    {formatNumber(mean(each.before, metric))} → {formatNumber(mean(each.after, metric))}
                  </span>
                  {each.flip !== 0 && (
                    <span class={`state ${each.flip < 0 ? 'worse' : 'better'}`}>
                      {each.flip < 0 ? `✕ ${words.regression}` : `✓ ${words.improvement}`}
                    </span>
                  )}
                </span>
              </button>
            </li>
          )
        })}
      </ol>
      {pairs.length > count && (
        <button type="button" class="plain" onClick={() => setCount(count + PAGE_ROWS)}>
          {texts.interactions.more(pairs.length - count)}
        </button>
      )}
    </div>
  )
}

function Both({ pair, metric, names }: { pair: Pair; metric: number; names: [string, string] }) {
  const before = useInteraction(rows.texts('id')[pair.before[0]!]!)
  const after = useInteraction(rows.texts('id')[pair.after[0]!]!)
  if (!before || !after || before === 'unknown' || after === 'unknown') return <Loading />
  if (!before.detail || !after.detail) return <p class="quiet">{texts.interactions.noText}</p>
  const [left, right] = compareWords(before.answer, after.answer)
  const sides = [
    { rows: pair.before, opened: before, parts: left, name: names[0], mark: 'removed' },
    { rows: pair.after, opened: after, parts: right, name: names[1], mark: 'added' },
  ]
  return (
    <div class="shown">
      <h2 dir="auto">{after.query}</h2>
      <div class="pair">
        {sides.map((side) => (
          <article key={side.mark}>
            <h3>
              {side.name} <Score row={side.rows[0]!} metric={metric} />
            </h3>
            {side.rows.length > 1 && <p class="quiet">{words.replicates(side.rows.length)}</p>}
            <p class="text" dir="auto">
              <Marked parts={side.parts} classes={[side.mark]} />
              {!side.opened.answer && <i>{texts.interactions.emptyAnswer}</i>}
            </p>
            <p>
              <a class="button" href={link('interaction', rows.texts('id')[side.rows[0]!]!)}>
                {words.open}
              </a>
            </p>
          </article>
        ))}
      </div>
      {before.answer === after.answer && <p class="quiet">{words.same}</p>}
      <p class="legend" aria-hidden="true">
        <span>
          <mark class="removed">{words.removed}</mark>
        </span>
        <span>
          <mark class="added">{words.added}</mark>
        </span>
      </p>
      {after.detail.reference_answer && (
        <>
          <h3>{texts.interaction.reference}</h3>
          <p class="text" dir="auto">
            {after.detail.reference_answer}
          </p>
        </>
      )}
    </div>
  )
}
