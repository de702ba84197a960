// Versions: the same query in two versions, those that got worse first, with the words marked that only one answer has.
import { useMemo, useState } from 'preact/hooks'
import { decided, isFailing, isJudged, isVerdict, loadMetrics, loadRows, page, primary, rows, texts as blocks } from '../data'
import { formatCount, formatNumber, formatPercent, formatPoints, formatSigned } from '../format'
import { Loading, Marked, Select, useReady } from '../parts'
import { change, go, link } from '../route'
import type { Route } from '../route'
import { metricOf } from '../selection'
import { texts } from '../texts'
import type { Comparison } from '../types'
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
  // the first version of an application has nothing before it
  const later = order.filter((each, place) => order.slice(0, place).some((other) => other[0] === each[0]))
  const after = later.find((each) => nameOf(each) === params.get('candidate')) ?? later.at(-1)
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
  const found = comparisonOf(metric, before, after)
  return (
    <main id="content" class="page">
      <div class="row">
        <h1>{words.title}</h1>
        <span class="spring" />
        <Select label={words.baseline} value={nameOf(before)} options={others.map((each) => [nameOf(each), title(each)])} onChange={(baseline) => set({ baseline })} />
        <Select label={words.candidate} value={nameOf(after)} options={later.map((each) => [nameOf(each), page.applications.length > 1 ? nameOf(each) : title(each)])} onChange={(candidate) => set({ candidate, baseline: '' })} />
        <Select
          label={words.metric}
          value={page.metrics[metric]!.name}
          options={[...new Set([page.mainMetric, ...primary])].map((each) => [page.metrics[each]!.name, page.metrics[each]!.name])}
          onChange={(value) => set({ metric: value })}
        />
        <Select label={words.only} value={only} options={Object.entries(words.kinds)} onChange={(value) => set({ only: value === 'all' ? '' : value })} />
      </div>
      <p>
        {found ? <Verdict found={found} /> : words.listed(formatCount(pairs.length))}
      </p>
      <div class="split">
        <Queries pairs={shown} open={open} metric={metric} onOpen={(each) => go(link('versions', '', change(params, { query: queryOf(each) })), true)} />
        {open ? <Both pair={open} metric={metric} names={[title(before), title(after)]} /> : <p class="quiet">{words.choose}</p>}
      </div>
    </main>
  )
}

/** Returns what the build says of two versions: the measurement that it tested, else the first one. */
export function comparisonOf(metric: number, before?: Version, after?: Version): Comparison | undefined {
  const found = page.comparisons.filter(
    (each) => each.metric === metric && (!before || isSame(each.baseline, before)) && (!after || isSame(each.candidate, after)),
  )
  return found.find((each) => each.verdict !== 'not_evaluated') ?? found[0]
}

/** Returns the change from the baseline to the candidate in words; the mart's difference is positive where that is better. */
export function changeOf(found: Comparison): { before: string; after: string; change: string; interval: string } {
  const isMean = found.measurement === 'mean_score'
  const show = isMean ? formatNumber : formatPercent
  const showChange = isMean ? formatSigned : formatPoints
  const isGainHigher = isMean && page.metrics[found.metric]!.isHigherBetter
  const ends = isGainHigher ? [found.low, found.high] : [found.high, found.low].map((each) => (each === null ? null : -each))
  const change = found.difference === null ? null : isGainHigher ? found.difference : -found.difference
  const interval = ends[0] === null ? '' : `(${showChange(ends[0])} to ${showChange(ends[1])})`
  return { before: show(found.before), after: show(found.after), change: `${showChange(change)}${isMean ? '' : ' points'}`, interval }
}

/** Returns what was compared: a share that fails is one of verdicts, and a score lies beyond its threshold. */
export const measurementOf = (found: Comparison): string =>
  isVerdict(found.metric) ? texts.overview.shareFailing : (words.measurement[found.measurement] ?? found.measurement)

/** What the build says of the two versions: its tested difference, never one of this page. */
function Verdict({ found }: { found: Comparison }) {
  const { before, after, change, interval } = changeOf(found)
  return (
    <span>
      {words.summary(formatCount(found.countPairs ?? 0))}{' '}
      {found.regressions !== null && words.flips(formatCount(found.regressions), formatCount(found.improvements ?? 0))}{' '}
      {found.before !== null && words.values(measurementOf(found), before, after, `${change} ${interval}`)}{' '}
      <span class={`state ${found.verdict}`}>{words.verdicts[found.verdict] ?? found.verdict}</span>
    </span>
  )
}

const queryOf = (pair: Pair): string => rows.texts('id')[pair.after[0]!]!

/** Returns the queries that both versions answered: those that now fail first, then the largest losses. */
function pair(before: Version, after: Version, metric: number): Pair[] {
  const [queries, applications, versions] = [rows.integers('query'), rows.integers('application'), rows.integers('version')]
  const population = page.dimensions.findIndex(({ name }) => name === 'population')
  // an answer to a variant says how robust a version is, and the build compares without it
  const variant = page.dimensions[population]?.segments.indexOf('variant') ?? -1
  const found = new Map<number, Pair>()
  for (let row = 0; row < queries.length; row++) {
    const own: Version = [applications[row]!, versions[row]!]
    const isOld = isSame(own, before)
    const isNow = isSame(own, after)
    if ((!isOld && !isNow) || (variant >= 0 && rows.integers(`dimension_${population}`)[row] === variant)) continue
    const query = queries[row]!
    if (!found.has(query)) found.set(query, { query, before: [], after: [], change: NaN, flip: 0 })
    found.get(query)![isOld ? 'before' : 'after'].push(row)
  }
  const sign = page.metrics[metric]!.isHigherBetter ? 1 : -1
  const isKnown = (own: number[]) => own.some((row) => !decided.includes(metric) || isJudged(rows.integers(`status_${metric}`)[row]!))
  const pairs = [...found.values()].filter((each) => isKnown(each.before) && isKnown(each.after))
  for (const each of pairs) {
    each.change = (mean(each.after, metric) - mean(each.before, metric)) * sign
    const [was, is] = [shareFailing(each.before, metric), shareFailing(each.after, metric)]
    // the majority decides; a tie passes
    each.flip = was <= 0.5 && is > 0.5 ? -1 : was > 0.5 && is <= 0.5 ? 1 : 0
  }
  const loss = (each: Pair) => (Number.isNaN(each.change) ? Infinity : each.change)
  return pairs.sort((a, b) => rankOf(a.flip) - rankOf(b.flip) || loss(a) - loss(b) || a.after[0]! - b.after[0]!)
}

const rankOf = (flip: number): number => (flip < 0 ? 0 : 1)

function mean(of: number[], metric: number): number {
  const scores = of.map((row) => rows.numbers(`score_${metric}`)[row]!).filter(Number.isFinite)
  return scores.length ? scores.reduce((a, b) => a + b, 0) / scores.length : NaN
}

/** Returns the verdict of one answer, how many of several fail, or their mean score. */
function sayOf(of: number[], metric: number): string {
  if (!isVerdict(metric)) return formatNumber(mean(of, metric))
  const verdicts = of.map((row) => page.verdicts[rows.integers('verdict')[row]!]!)
  return verdicts.length === 1 ? verdicts[0]! : words.ofSeveral(verdicts.filter((each) => each === 'failing').length, verdicts.length)
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
                    {sayOf(each.before, metric)} → {sayOf(each.after, metric)}
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
