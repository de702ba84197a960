// Drift: series that were tested, drifting ones first; one of them with its reference, its alarms and its weeks.
import { page } from '../data'
import { formatInterval, formatNumber, formatPercent, formatSigned } from '../format'
import { Loading, Section, Weeks, useReady } from '../parts'
import { link } from '../route'
import type { Route } from '../route'
import { loadWeeks, pointsOf, seriesNames } from '../series'
import type { SeriesName } from '../series'
import { texts } from '../texts'
import type { Alarm } from '../types'

const words = texts.drift

const nameOf = ({ metric, dimension, segment }: SeriesName): string => {
  const name = metric < 0 ? words.mix : page.metrics[metric]!.name
  return dimension === 'all' ? name : `${name}, ${dimension} = ${segment}`
}

const addressOf = ({ metric, dimension, segment }: SeriesName): string =>
  link(
    'drift',
    '',
    new URLSearchParams({
      metric: metric < 0 ? '' : page.metrics[metric]!.name,
      ...(dimension === 'all' ? {} : { dimension, segment }),
    }),
  )

export function Drift({ route }: { route: Route }) {
  const { params } = route
  const isReady = useReady(loadWeeks, [])
  if (!isReady) return <main id="content" class="page"><Loading /></main>
  const tested = new Map(page.alarms.map((alarm) => [nameOf(alarm), alarm]))
  // alarms are sorted: the last one that a name keeps must not hide an earlier, drifting one
  for (const alarm of page.alarms) if (alarm.isDrifting) tested.set(nameOf(alarm), alarm)
  const wanted = {
    metric: page.metrics.findIndex((metric) => metric.name === params.get('metric')),
    dimension: params.get('dimension') ?? 'all',
    segment: params.get('segment') ?? 'all',
  }
  const series = params.has('metric') ? wanted : (page.alarms[0] ?? seriesNames()[0])
  return (
    <main id="content" class="page split">
      <nav class="side" aria-label={words.series}>
        <h1>{words.title}</h1>
        {!tested.size && <p>{words.none}</p>}
        <ol>
          {[...tested.values()]
            .sort((a, b) => Number(b.isDrifting) - Number(a.isDrifting))
            .map((alarm) => (
              <li key={nameOf(alarm)}>
                <a href={addressOf(alarm)} aria-current={series && nameOf(alarm) === nameOf(series) ? 'true' : undefined}>
                  <b>{nameOf(alarm)}</b>
                  <span class={`state ${alarm.isDrifting ? 'failed' : 'passed'}`}>
                    {alarm.isDrifting ? words.drifting : words.stable}
                  </span>
                </a>
              </li>
            ))}
        </ol>
      </nav>
      {series && <Series series={series} />}
    </main>
  )
}

function Series({ series }: { series: SeriesName }) {
  const alarms = page.alarms.filter((alarm) => nameOf(alarm) === nameOf(series))
  const first: Alarm | undefined = alarms.find((alarm) => alarm.bandLow !== null)
  const points = pointsOf(series.metric, series.dimension, series.segment, false)
  const shares = pointsOf(series.metric, series.dimension, series.segment, true)
  return (
    <div class="shown">
      <h2>{nameOf(series)}</h2>
      {alarms.length > 0 && (
        <table class="table">
          <thead>
            <tr>
              {words.columns.slice(1).map((column, index) => (
                <th scope="col" key={column} class={index > 1 ? 'number' : ''}>
                  {column}
                </th>
              ))}
              <th scope="col">{words.result}</th>
            </tr>
          </thead>
          <tbody>
            {alarms.map((alarm, index) => (
              <tr key={index}>
                <th scope="row">{words.tests[alarm.test] ?? alarm.test}</th>
                <td>{words.window(alarm.start, alarm.end, alarm.weeks)}</td>
                <td class="number" title={words.reference(alarm.referenceStart, alarm.referenceEnd)}>
                  {formatNumber(alarm.reference)}
                </td>
                <td class="number">{formatNumber(alarm.value)}</td>
                <td class="number">
                  {formatSigned(alarm.difference)} <span class="quiet">{formatInterval(alarm.low ?? NaN, alarm.high ?? NaN, formatSigned)}</span>
                </td>
                <td class="number">{formatNumber(alarm.q)}</td>
                <td>
                  <span class={`state ${alarm.isDrifting ? 'failed' : 'passed'}`}>{alarm.isDrifting ? words.drifting : words.stable}</span>{' '}
                  {alarm.detail && <span class="quiet">{alarm.detail}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Weeks
        isTall
        points={points}
        label={`${words.weeksOf} ${nameOf(series)}`}
        band={first ? [first.bandLow!, first.bandHigh!] : null}
        reference={first?.reference ?? null}
      />
      {points.length > 1 && (
        <p class="legend">
          {first && (
            <span>
              <span class="swatch band" aria-hidden="true" /> {words.band}
            </span>
          )}
          {points.some((point) => point.isAlarm) && (
            <span>
              <span class="swatch alarm" aria-hidden="true" /> {words.alarm}
            </span>
          )}
        </p>
      )}
      <Section title={`${words.weeksOf} ${nameOf(series)}`}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{words.week}</th>
              <th scope="col" class="number">
                {words.mean}
              </th>
              <th scope="col" class="number">
                {words.failing}
              </th>
              <th scope="col" class="number">
                {words.scored}
              </th>
            </tr>
          </thead>
          <tbody>
            {points.map((point, index) => (
              <tr key={point.week}>
                <th scope="row">
                  <WeekLink series={series} week={point.week} /> {point.isAlarm && <span class="state failed">{words.drifting}</span>}
                </th>
                <td class="number">
                  {formatNumber(point.value)} <span class="quiet">{formatInterval(point.low, point.high, formatNumber)}</span>
                </td>
                <td class="number">{formatPercent(shares[index]?.value)}</td>
                <td class="number">{point.n.toLocaleString('en')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
    </div>
  )
}

/** A week leads to its interactions where the week is a dimension of the build. */
function WeekLink({ series, week }: { series: SeriesName; week: string }) {
  if (!page.dimensions.some(({ name, segments }) => name === 'asked_week' && segments.includes(week))) return <>{week}</>
  const params = new URLSearchParams({ 'd.asked_week': week })
  if (page.dimensions.some(({ name }) => name === series.dimension)) params.set(`d.${series.dimension}`, series.segment)
  if (series.metric >= 0 && series.metric !== page.mainMetric) params.set('metric', page.metrics[series.metric]!.name)
  if (series.metric >= 0) params.set('sort', page.metrics[series.metric]!.name)
  return (
    <a href={link('interactions', '', params)} title={words.read}>
      {week}
    </a>
  )
}
