// Drift: series that were tested, drifting ones first; one of them with its reference, its alarms and its weeks.
import { useState } from 'preact/hooks'
import { isVerdict, page } from '../data'
import { formatInterval, formatNumber, formatPercent, formatPoints, formatSigned } from '../format'
import { Loading, Name, Section, Weeks, useReady } from '../parts'
import { change, link } from '../route'
import type { Route } from '../route'
import { usedFor } from '../selection'
import { loadWeeks, pointsOf, seriesNames } from '../series'
import type { SeriesName } from '../series'
import { texts } from '../texts'
import type { Alarm } from '../types'
import { Contributions } from './contributions'

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

type StateName = 'drifting' | 'moved' | 'stable'
const CLASSES = { drifting: 'failed', moved: 'warned', stable: 'not_evaluated' }

/** A series that moved beyond its interval, but not beyond the alarm level, is not one where nothing is shown. */
const hasMoved = ({ low, high }: Alarm): boolean => low !== null && high !== null && (low > 0 || high < 0)

const stateOf = (alarm: Alarm): StateName => (alarm.isDrifting ? 'drifting' : hasMoved(alarm) ? 'moved' : 'stable')

export function stateOfSeries(alarms: Alarm[]): StateName | null {
  const states = alarms.map(stateOf)
  return (['drifting', 'moved', 'stable'] as const).find((state) => states.includes(state)) ?? null
}

export function State({ state, alarm }: { state: StateName | null; alarm?: Alarm }) {
  if (!state) return null
  const isShort = state === 'moved' && alarm
  return (
    <span class={`state ${CLASSES[state]}`}>
      {words.states[state]}
      {isShort && ` ${words.short(formatNumber(alarm.q), String(alarm.level))}`}
    </span>
  )
}

interface Tested extends SeriesName {
  alarms: Alarm[]
  state: StateName
  isLive: boolean
}

/** Returns the tested series: alarms first, and of equal ones the live version, then all interactions. */
function listTested(): Tested[] {
  const found = new Map<string, Tested>()
  for (const alarm of page.alarms) {
    const name = nameOf(alarm)
    const isLive = alarm.dimension === 'system' && page.live.includes(alarm.segment)
    if (!found.has(name)) found.set(name, { ...alarm, alarms: [], state: 'stable', isLive })
    found.get(name)!.alarms.push(alarm)
  }
  const all = new Map([...found.values()].filter(({ dimension }) => dimension === 'all').map((each) => [each.metric, said(each)]))
  const tested = [...found.values()]
    // a segment that holds every interaction repeats the series of all
    .filter((each) => each.dimension === 'all' || said(each) !== all.get(each.metric))
    .map((each) => ({ ...each, state: stateOfSeries(each.alarms)! }))
  const order = Object.keys(CLASSES)
  const rank = ({ state, isLive, dimension }: Tested) => order.indexOf(state) * 3 + (isLive ? 0 : dimension === 'all' ? 1 : 2)
  return tested.sort((a, b) => rank(a) - rank(b))

  function said({ alarms }: Tested): string {
    return alarms.map(({ test, weeks, difference, low, high }) => [test, weeks, difference, low, high].join(' ')).sort().join('|')
  }
}

export function Drift({ route }: { route: Route }) {
  const { params } = route
  const isReady = useReady(loadWeeks, [])
  const [tested] = useState(listTested)
  if (!isReady) return <main id="content" class="page"><Loading /></main>
  const wanted = {
    metric: page.metrics.findIndex((metric) => metric.name === params.get('metric')),
    dimension: params.get('dimension') ?? 'all',
    segment: params.get('segment') ?? 'all',
  }
  const series = params.has('metric') ? wanted : (tested[0] ?? seriesNames()[0])
  const quiet = tested.filter(({ state }) => state === 'stable')
  const list = (shown: Tested[]) => (
    <ol>
      {shown.map((each) => (
        <li key={nameOf(each)}>
          <a href={addressOf(each)} aria-current={series && nameOf(each) === nameOf(series) ? 'true' : undefined}>
            <b>
              <Name>{nameOf(each)}</Name>
            </b>
            <span class="row">
              <State state={each.state} />
              {each.isLive && <span class="tag strong">{words.live}</span>}
            </span>
          </a>
        </li>
      ))}
    </ol>
  )
  return (
    <main id="content" class="page split">
      <nav class="side" aria-label={words.series}>
        <h1>{words.title}</h1>
        {!tested.length && <p>{words.none}</p>}
        {list(tested.filter(({ state }) => state !== 'stable'))}
        {quiet.length > 0 && (
          <details open={quiet.length === tested.length}>
            <summary>{words.quiet(quiet.length)}</summary>
            {list(quiet)}
          </details>
        )}
      </nav>
      {series && <Series key={nameOf(series)} series={series} params={params} />}
    </main>
  )
}

function Series({ series, params }: { series: SeriesName; params: URLSearchParams }) {
  const alarms = page.alarms.filter((alarm) => nameOf(alarm) === nameOf(series))
  const first: Alarm | undefined = alarms.find((alarm) => alarm.bandLow !== null)
  const shares = pointsOf(series.metric, series.dimension, series.segment, true)
  // of a verdict the share that fails is what readers know: one minus its mean
  const isRate = isVerdict(series.metric)
  const turn = (value: number) => (isRate ? 1 - value : value)
  const show = isRate ? formatPercent : formatNumber
  const points = isRate ? shares : pointsOf(series.metric, series.dimension, series.segment, false)
  const columns = words.columns(isRate)
  const week = params.get('week')
  return (
    <div class="shown">
      <h2>{nameOf(series)}</h2>
      {alarms.length > 0 && (
        <table class="table">
          <thead>
            <tr>
              {columns.map((column, index) => (
                <th scope="col" key={column} class={index === 1 ? 'dates' : index > 1 ? 'number' : ''}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {alarms.map((alarm, index) => (
              <tr key={index}>
                <th scope="row">
                  {words.tests[alarm.test]?.(alarm.weeks) ?? alarm.test}
                  <span class="result">
                    <State state={stateOf(alarm)} alarm={alarm} /> {alarm.detail && <span class="quiet">{alarm.detail}</span>}
                  </span>
                </th>
                <td class="dates">{words.window(alarm.start, alarm.end)}</td>
                <td class="number" title={words.reference(alarm.referenceStart, alarm.referenceEnd)}>
                  {alarm.reference === null ? '–' : show(turn(alarm.reference))}
                </td>
                <td class="number">{alarm.value === null ? '–' : show(turn(alarm.value))}</td>
                <td class="number">
                  {sayChange(alarm, isRate)} <span class="quiet">{sayInterval(alarm, isRate)}</span>
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
        isRate={isRate}
        band={first ? [turn(first.bandLow!), turn(first.bandHigh!)].sort((a, b) => a - b) as [number, number] : null}
        reference={first?.reference === null || !first ? null : turn(first.reference)}
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
              {[isRate ? '' : words.mean, words.failing, words.scored, words.whatChanged].filter(Boolean).map((column) => (
                <th scope="col" key={column} class="number">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map((point, index) => (
              <tr key={point.week}>
                <th scope="row">
                  <WeekLink series={series} week={point.week} /> {point.isAlarm && <span class="state failed">{words.drifting}</span>}
                </th>
                {!isRate && (
                  <td class="number">
                    {formatNumber(point.value)} <span class="quiet">{formatInterval(point.low, point.high, formatNumber)}</span>
                  </td>
                )}
                <td class="number">
                  {formatPercent(shares[index]?.value)}{' '}
                  {isRate && <span class="quiet">{formatInterval(point.low, point.high, formatPercent)}</span>}
                </td>
                <td class="number">{point.n.toLocaleString('en')}</td>
                <td class="number">
                  {index > 0 && isWeek(point.week) && series.metric >= 0 && (
                    <a href={link('drift', '', change(new URLSearchParams(addressOf(series).split('?')[1]), { week: week === point.week ? '' : point.week }))}>
                      {week === point.week ? words.close : words.open}
                    </a>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      {week && series.metric >= 0 && (
        <Contributions key={week} week={week} series={series} left={points.filter((point) => point.isAlarm).map((point) => point.week)} />
      )}
    </div>
  )
}

/** The mean of a verdict falls where the share failing rises. */
const showChange = (value: number, isRate: boolean): string => (isRate ? formatPoints(-value) : formatSigned(value))

const sayChange = ({ difference }: Alarm, isRate: boolean): string =>
  difference === null ? '–' : `${showChange(difference, isRate)}${isRate ? ' points' : ''}`

function sayInterval({ low, high }: Alarm, isRate: boolean): string {
  if (low === null || high === null) return ''
  const [first, last] = isRate ? [high, low] : [low, high]
  return `(${showChange(first, isRate)} to ${showChange(last, isRate)})`
}

const isWeek = (week: string): boolean => page.dimensions.some(({ name, segments }) => name === 'asked_week' && segments.includes(week))

/** A week leads to its interactions where the week is a dimension of the build. */
function WeekLink({ series, week }: { series: SeriesName; week: string }) {
  if (!isWeek(week)) return <>{week}</>
  const params = new URLSearchParams({ 'd.asked_week': week, ...usedFor('monitoring') })
  if (page.dimensions.some(({ name }) => name === series.dimension)) params.set(`d.${series.dimension}`, series.segment)
  if (series.metric >= 0 && series.metric !== page.mainMetric) params.set('metric', page.metrics[series.metric]!.name)
  if (series.metric >= 0 && !isVerdict(series.metric)) params.set('sort', page.metrics[series.metric]!.name)
  return (
    <a href={link('interactions', '', params)} title={words.read}>
      {week}
    </a>
  )
}
