// The first screen: the verdict, what stops it, what was found, where it fails, and how versions and weeks compare.
import { decided, page } from '../data'
import { findCell, loadCells, pairs, valueOf, addressOf } from '../cells'
import { formatCount, formatInterval, formatPercent } from '../format'
import { Dot, Intervals, Loading, Name, Section, Weeks, useReady } from '../parts'
import { go, link } from '../route'
import { texts } from '../texts'
import type { Gate } from '../types'
import { MapLegend, PairGrid } from './map'
import { loadWeeks, pointsOf } from '../series'

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
              {page.lines.map((line) => {
                const finding = page.findings.find((each) => each.anchor === line.finding)
                return (
                  <li key={line.text}>
                    {finding ? <a href={link('findings', finding.finding_id)}>{line.text}</a> : line.text}
                  </li>
                )
              })}
            </ol>
          ) : (
            <p>{page.withoutFindings}</p>
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

function Gates({ gates }: { gates: Gate[] }) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">{words.gate}</th>
          <th scope="col">{words.verdict}</th>
          <th scope="col" class="number">
            {words.measured}
          </th>
          <th scope="col" class="number">
            {words.limit}
          </th>
        </tr>
      </thead>
      <tbody>
        {gates.map((gate) => (
          <tr key={gate.gate_name} title={gate.cause}>
            <th scope="row">
              {gate.gate_name} {gate.severity === 'error' && <span class="tag strong">{gate.severity}</span>}
            </th>
            <td>
              <span class={`state ${gate.verdict}`}>{gate.verdict.replaceAll('_', ' ')}</span>
            </td>
            <td class="number">
              {gate.value} <span class="quiet">{gate.interval}</span>
            </td>
            <td class="number">{gate.limit}</td>
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
    <Section title={words.cells} note={words.cellsNote(page.metrics[page.mainMetric]!.name)}>
      <PairGrid metric={page.mainMetric} first={pair[0]} second={pair[1]} />
      <MapLegend />
    </Section>
  )
}

function valueAt(metric: number, dimension: number, segment: number): { value: number; low: number; high: number } {
  const index = findCell(metric, dimension, segment)
  return index < 0 ? { value: NaN, low: NaN, high: NaN } : valueOf(index)
}

function VersionTable() {
  const system = page.dimensions.findIndex((dimension) => dimension.name === 'system')
  const systems = page.dimensions[system]?.segments ?? []
  const metrics = [page.mainMetric, ...decided.filter((metric) => metric !== page.mainMetric && page.metrics[metric]!.isPrimary)]
  const shown = metrics.filter((metric) => systems.some((_, segment) => findCell(metric, system, segment) >= 0))
  if (system < 0 || !shown.length) return null
  const highs = shown.flatMap((metric) => systems.map((_, segment) => valueAt(metric, system, segment).high))
  const most = Math.max(...highs.filter(Number.isFinite))
  return (
    <Section title={words.versions} note={words.versionsNote}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{words.metric}</th>
            <th scope="col">{words.interval}</th>
            {systems.map((name, shape) => (
              <th scope="col" key={name} class="number">
                <svg class="key" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
                  <Dot x={6} y={6} shape={shape} />
                </svg>{' '}
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((metric) => (
            <tr key={metric}>
              <th scope="row">
                <Name>{page.metrics[metric]!.name}</Name>
              </th>
              <td>
                <Intervals values={systems.map((_, shape) => valueAt(metric, system, shape))} most={most} />
              </td>
              {systems.map((name, shape) => {
                const index = findCell(metric, system, shape)
                const { value, low, high } = valueAt(metric, system, shape)
                return (
                  <td key={name} class="number">
                    {index >= 0 && (
                      <button type="button" class="plain value" onClick={() => go(addressOf(index))}>
                        <b>{formatPercent(value)}</b>
                        <span class="quiet">{formatInterval(low, high, formatPercent)}</span>
                      </button>
                    )}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
}

// The series of the report (hcat.report.monitoring.WEEKLY_METRICS), as far as the build has them.
const WEEKLY = ['groundedness', 'answer_relevancy__mean', 'recall_at_5', 'refusal_as_expected']

function WeekSeries() {
  const series = WEEKLY.map((name) => page.metrics.findIndex((metric) => metric.name === name))
    .filter((metric) => metric >= 0)
    .map((metric) => ({ metric, points: pointsOf(metric, 'all', 'all', false) }))
    .filter(({ points }) => points.filter((point) => Number.isFinite(point.value)).length > 1)
  return (
    <Section title={words.weeks} note={series.length ? words.weeksNote : words.noWeeks}>
      <div class="series">
        {series.map(({ metric, points }) => {
          const { name } = page.metrics[metric]!
          const alarm = page.alarms.find((each) => each.metric === metric && each.dimension === 'all' && each.isDrifting)
          return (
            <figure key={name}>
              <figcaption>
                <a href={link('drift', '', new URLSearchParams({ metric: name }))}>{name}</a>
                {alarm && <span class="tag strong">{texts.drift.drifting}</span>}
              </figcaption>
              <Weeks points={points} label={`${name}: ${words.weeksNote}`} />
            </figure>
          )
        })}
      </div>
    </Section>
  )
}
