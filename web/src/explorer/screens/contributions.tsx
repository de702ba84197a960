// What made a week fall: the share failing of a week against the weeks before it, by segment, largest contribution first.
import { isFailing, isJudged, loadMetrics, loadRows, page, rows } from '../data'
import { facets } from '../filter'
import { formatPercent, formatPoints } from '../format'
import { Loading, Name, Section, useReady } from '../parts'
import { link } from '../route'
import { usedFor } from '../selection'
import type { SeriesName } from '../series'
import { texts } from '../texts'

const words = texts.contributions
/** What a week is divided by: kind of fault, cause, population, version, topic, document, and who asked what. */
const KEYS = [
  'f.failed_criterion', 'f.cause', 'd.population', 'd.system', 'd.topic', 'f.first_document', 'd.query_type', 'd.customer_group', 'd.channel',
  'd.language',
]
/** Only answers that fail have one: their share of all answers is what changes. */
const OF_FAILURES = ['f.failed_criterion', 'f.cause']
const PER_KEY = 3
const MAXIMUM = 12
// a segment that holds nearly all answers of both times explains nothing
const WHOLE = 0.95

interface Sum {
  count: number
  failing: number
  weight: number
  weightFailing: number
}

interface Part {
  key: string
  title: string
  segment: string
  before: Sum
  now: Sum
  points: number
}

const nothing = (): Sum => ({ count: 0, failing: 0, weight: 0, weightFailing: 0 })
const rateOf = (sum: Sum, otherwise: number): number => (sum.weight ? sum.weightFailing / sum.weight : otherwise)

function add(sum: Sum, weight: number, isBad: boolean): void {
  sum.count++
  sum.weight += weight
  if (!isBad) return
  sum.failing++
  sum.weightFailing += weight
}

/**
 * Returns how many points of the change each segment adds. The points of a dimension sum to the change (Kitagawa 1955):
 * a segment adds by its own rate, and by its weight where its rate differs from that of all.
 */
function divide(week: string, series: SeriesName, left: string[]): { before: Sum; now: Sum; parts: Part[] } {
  const all = facets()
  const facetOf = (key: string) => all.find((facet) => facet.key === key)
  const [weeks, uses, own] = [facetOf('d.asked_week')!, facetOf('use'), facetOf(`d.${series.dimension}`)]
  const has = (facet: typeof own, row: number, label: string) =>
    !facet || facet.members[facet.codes[row]!]!.some((value) => facet.labels[value] === label)
  const status = rows.integers(`status_${series.metric}`)
  const weights = rows.numbers('weight')
  const chosen: { row: number; isNow: boolean }[] = []
  for (let row = 0; row < status.length; row++) {
    if (!isJudged(status[row]!) || !has(uses, row, 'monitoring') || !has(own, row, series.segment)) continue
    const asked = weeks.labels[weeks.members[weeks.codes[row]!]![0] ?? -1]
    if (asked === week) chosen.push({ row, isNow: true })
    else if (asked !== undefined && asked < week && !left.includes(asked)) chosen.push({ row, isNow: false })
  }
  const [before, now] = [nothing(), nothing()]
  for (const { row, isNow } of chosen) add(isNow ? now : before, weights[row]!, isFailing(status[row]!))
  const parts = KEYS.flatMap((key): Part[] => {
    const facet = facetOf(key)
    if (!facet || facet === own) return []
    const isOfFailures = OF_FAILURES.includes(key)
    const sums = facet.labels.map(() => [nothing(), nothing()] as [Sum, Sum])
    for (const { row, isNow } of chosen) {
      const isBad = isFailing(status[row]!)
      if (isOfFailures && !isBad) continue
      for (const value of facet.members[facet.codes[row]!]!) add(sums[value]![isNow ? 1 : 0], weights[row]!, isBad)
    }
    const found = sums.flatMap(([was, is], value): Part[] => {
      const [shareWas, shareIs] = [was.weight / before.weight, is.weight / now.weight]
      if (!was.count && !is.count) return []
      if (!isOfFailures && Math.min(shareWas, shareIs) > WHOLE) return []
      const middle = (rateOf(before, 0) + rateOf(now, 0)) / 2
      const [rateWas, rateIs] = [rateOf(was, rateOf(before, 0)), rateOf(is, rateOf(now, 0))]
      const points = isOfFailures
        ? shareIs - shareWas
        : ((shareWas + shareIs) / 2) * (rateIs - rateWas) + (shareIs - shareWas) * ((rateWas + rateIs) / 2 - middle)
      return [{ key, title: facet.title, segment: facet.labels[value]!, before: was, now: is, points }]
    })
    return found.sort((a, b) => Math.abs(b.points) - Math.abs(a.points)).slice(0, PER_KEY)
  })
  return { before, now, parts: parts.sort((a, b) => Math.abs(b.points) - Math.abs(a.points)).slice(0, MAXIMUM) }
}

export function Contributions({ week, series, left }: { week: string; series: SeriesName; left: string[] }) {
  const isReady = useReady(() => Promise.all([loadRows(), loadMetrics([series.metric])]), [series.metric])
  if (!isReady) return <Loading />
  const { before, now, parts } = divide(week, series, left)
  if (!before.count || !now.count) return <p class="quiet">{words.none(week)}</p>
  const say = (sum: Sum, whole: Sum, isOfFailures: boolean) =>
    isOfFailures ? words.part(sum.failing, whole.count) : words.failing(sum.failing, sum.count)
  return (
    <Section
      title={words.title(week)}
      note={words.summary(
        formatPercent(rateOf(now, 0)), now.count, formatPercent(rateOf(before, 0)), before.count, formatPoints(rateOf(now, 0) - rateOf(before, 0)),
      )}
    >
      <div class="wide" tabIndex={0} role="region" aria-label={words.title(week)}>
        <table class="table contributions">
          <thead>
            <tr>
              {words.columns.map((column, index) => (
                <th scope="col" key={column} class={index > 1 ? 'number' : ''}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {parts.map((part) => (
              <tr key={part.key + part.segment}>
                <td>{part.title}</td>
                <th scope="row">
                  <a href={link('interactions', '', new URLSearchParams({ 'd.asked_week': week, ...usedFor('monitoring'), ...own(series), [part.key]: part.segment }))}>
                    <Name>{part.segment}</Name>
                  </a>
                </th>
                <td class="number">{say(part.before, before, OF_FAILURES.includes(part.key))}</td>
                <td class="number">{say(part.now, now, OF_FAILURES.includes(part.key))}</td>
                <td class="number">
                  <b>{formatPoints(part.points)}</b>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet">{words.note}</p>
    </Section>
  )
}

const own = ({ dimension, segment }: SeriesName): Record<string, string> =>
  page.dimensions.some(({ name }) => name === dimension) ? { [`d.${dimension}`]: segment } : {}
