// The first screen: the verdict, what stops it, what was found, where it fails, and how versions and weeks compare.
import { isVerdict, page } from '../data'
import { loadCells, pairs } from '../cells'
import { formatCount, formatInterval, formatPercent, inWords } from '../format'
import { Loading, Section, Weeks, useReady } from '../parts'
import { link } from '../route'
import { texts } from '../texts'
import type { Comparison, Gate } from '../types'
import { MapLegend, noteOf, PairGrid } from './map'
import { loadWeeks, pointsOf } from '../series'
import { State, stateOfSeries } from './drift'
import { changeOf, measurementOf } from './versions'

const words = texts.overview

export function Overview() {
  const isReady = useReady(() => Promise.all([loadCells(), loadWeeks()]), [])
  const { verdict, gates, run, sampling } = page
  const failing = gates.filter((gate) => !gate.is_passing)
  const passing = gates.filter((gate) => gate.is_passing)
  return (
    <main id="content" class="page">
      <header class={`banner ${verdict.state}`}>
        <h1>{verdict.word}</h1>
        <p>{verdict.text}</p>
        <p class="quiet">
          {words.build(run?.startedAt ?? '–', page.period, formatCount(sampling.countAll), formatCount(page.countClusters))}
        </p>
      </header>
      <div class="columns">
        <Section title={words.findings}>
          {page.lines.length ? (
            <ol class="findings">
              {page.lines.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ol>
          ) : (
            <p>{page.withoutFindings}</p>
          )}
          <Rates />
          <p class="quiet">{words.brackets(`${Number((100 * page.confidence).toPrecision(3))} %`)}</p>
          {page.costs.length > 0 && (
            <details>
              <summary>{words.costs}</summary>
              <ul>
                {page.costs.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            </details>
          )}
        </Section>
        <Section title={failing.length || !gates.length ? words.gatesFailing : words.gates}>
          {!gates.length && <p>{words.noGates}</p>}
          {failing.length > 0 && <Gates gates={failing} />}
          {passing.length > 0 && (
            <details>
              <summary>{words.gatesPassing(passing.length)}</summary>
              <Gates gates={passing} />
            </details>
          )}
        </Section>
      </div>
      {isReady ? (
        <div class="columns">
          <Where />
          <div>
            <VersionTable />
            <WeekSeries />
          </div>
        </div>
      ) : (
        <Loading />
      )}
    </main>
  )
}

/** The rates of the live version, one per criterion and population. */
function Rates() {
  const rates = page.rates.filter((rate) => rate.dimension === 'all' && rate.population !== 'variant' && page.live.includes(rate.system))
  const unique = (values: string[]) => [...new Set(values)]
  return (
    <>
      {unique(rates.map(({ system }) => system)).map((system) => {
        const own = rates.filter((rate) => rate.system === system)
        const populations = unique(own.map(({ population }) => population))
        const criteria = unique(own.map(({ criterion }) => criterion)).sort((a, b) => Number(b === 'verdict') - Number(a === 'verdict'))
        return (
          <table class="table rates" key={system}>
            <thead>
              <tr>
                <th scope="col">{words.failingOf(system)}</th>
                {populations.map((population) => (
                  <th scope="col" class="number" key={population}>
                    {words.populations[population] ?? population}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {criteria.map((criterion) => (
                <tr key={criterion}>
                  <th scope="row">{words.criteria[criterion] ?? criterion}</th>
                  {populations.map((population) => {
                    const rate = own.find((each) => each.criterion === criterion && each.population === population)
                    return (
                      <td class="number" key={population}>
                        {formatPercent(rate?.failure_rate)}{' '}
                        <span class="quiet">
                          {rate && formatInterval(rate.failure_rate_lower ?? NaN, rate.failure_rate_upper ?? NaN, formatPercent)}
                          {rate && `, n = ${rate.count_interactions.toLocaleString('en')}`}
                        </span>
                      </td>
                    )
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        )
      })}
    </>
  )
}

function Gates({ gates }: { gates: Gate[] }) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">{words.gate}</th>
          <th scope="col">{words.verdict}</th>
          <th scope="col">{words.measured}</th>
        </tr>
      </thead>
      <tbody>
        {gates.map((gate) => (
          <tr key={gate.gate_name}>
            <th scope="row" title={gate.gate_name}>
              {inWords(gate.gate_name)} {gate.severity === 'error' && <span class="tag strong">{gate.severity}</span>}
            </th>
            <td>
              <span class={`state ${gate.verdict}`}>{gate.verdict.replaceAll('_', ' ')}</span>
            </td>
            <td>{gate.reason}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Where() {
  const [pair] = pairs()
  if (!pair) return null
  return (
    <Section title={words.cells} note={noteOf(page.mainMetric) ?? words.cellsNote(inWords(page.metrics[page.mainMetric]!.name))}>
      <PairGrid metric={page.mainMetric} first={pair[0]} second={pair[1]} />
      <MapLegend />
    </Section>
  )
}

/** The versions on the same queries, as the build compared them: never two populations side by side. */
function VersionTable() {
  const tested = page.comparisons.filter(({ verdict }) => verdict !== 'not_evaluated')
  if (!tested.length) return null
  const first = tested.find(({ metric }) => isVerdict(metric)) ?? tested[0]!
  // what readers must see: the verdict, and scores that changed
  const isChanged = (found: Comparison) => found === first || found.verdict === 'better' || found.verdict === 'worse'
  const [changed, others] = [tested.filter(isChanged), tested.filter((found) => !isChanged(found))]
  changed.sort((a, b) => Number(b === first) - Number(a === first))
  return (
    <Section title={words.versions} note={words.versionsNote(nameOf(first.candidate), nameOf(first.baseline))}>
      <Comparisons shown={changed} />
      {others.length > 0 && (
        <details>
          <summary>{words.versionsOthers(others.length)}</summary>
          <Comparisons shown={others} />
        </details>
      )}
    </Section>
  )
}

const nameOf = ([application, version]: [number, number]): string =>
  page.applications.length > 1 ? `${page.applications[application]} ${page.versions[version]}` : page.versions[version]!

function Comparisons({ shown }: { shown: Comparison[] }) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label={words.versions}>
      <table class="table">
        <thead>
          <tr>
            {words.versionColumns.map((column, index) => (
              <th scope="col" key={column} class={index ? 'number' : ''}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((found, index) => {
            const { before, after, change, interval } = changeOf(found)
            const metric = page.metrics[found.metric]!.name
            return (
              <tr key={index}>
                <th scope="row">
                  <a href={link('versions', '', new URLSearchParams({ metric, ...(page.applications.length > 1 ? { candidate: nameOf(found.candidate) } : {}) }))}>
                    {isVerdict(found.metric) ? words.shareFailing : inWords(metric)}
                  </a>
                  {!isVerdict(found.metric) && `, ${measurementOf(found)}`}
                  <span class={`result ${found.verdict}`}>{texts.versions.verdicts[found.verdict] ?? found.verdict}</span>
                </th>
                <td class="number">{before}</td>
                <td class="number">{after}</td>
                <td class="number">
                  {change} <span class="quiet">{interval}</span>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

// The series of the report (hcat.report.monitoring.WEEKLY_METRICS), as far as the build has them.
const WEEKLY = ['verdict', 'groundedness', 'answer_relevancy__mean', 'recall_at_5', 'refusal_as_expected']

function WeekSeries() {
  const series = WEEKLY.map((name) => page.metrics.findIndex((metric) => metric.name === name))
    .filter((metric) => metric >= 0)
    .map((metric) => ({ metric, points: pointsOf(metric, 'all', 'all', isVerdict(metric)) }))
    .filter(({ points }) => points.filter((point) => Number.isFinite(point.value)).length > 1)
  return (
    <Section title={words.weeks} note={series.length ? words.weeksNote : words.noWeeks}>
      <div class="series">
        {series.map(({ metric, points }) => {
          const { name } = page.metrics[metric]!
          const state = stateOfSeries(page.alarms.filter((each) => each.metric === metric && each.dimension === 'all'))
          return (
            <figure key={name}>
              <figcaption>
                <a href={link('drift', '', new URLSearchParams({ metric: name }))}>{isVerdict(metric) ? words.shareFailing : inWords(name)}</a>{' '}
                <State state={state} />
              </figcaption>
              <Weeks points={points} label={`${name}: ${words.weeksNote}`} isRate={isVerdict(metric)} />
            </figure>
          )
        })}
      </div>
    </Section>
  )
}
