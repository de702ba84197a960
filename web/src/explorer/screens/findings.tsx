// The findings of the build: each with its cell, its worst examples and its history.
import { isVerdict, loadMetrics, loadRows, page, rows, texts as blocks, findRow } from '../data'
import { failing } from '../cells'
import { formatNumber, formatPoints } from '../format'
import { Loading, Section, Weeks, useReady } from '../parts'
import { link } from '../route'
import type { Route } from '../route'
import { cellParams, usedFor } from '../selection'
import { loadWeeks, pointsOf } from '../series'
import { texts } from '../texts'
import type { Finding } from '../types'
import { Score } from './interaction'

const words = texts.findings

export function Findings({ route }: { route: Route }) {
  const isReady = useReady(() => Promise.all([loadRows(), loadMetrics(page.findings.map(({ metric }) => metric)), loadWeeks(), blocks.load(['query', 'answer'])]), [])
  const { findings } = page
  const leading = findings.filter((finding) => finding.page_rank !== null)
  const others = findings.filter((finding) => finding.page_rank === null)
  const shown = findings.find((finding) => finding.finding_id === route.id) ?? findings[0]
  return (
    <main id="content" class="page split">
      <nav class="side" aria-label={words.list}>
        <h1>{words.title}</h1>
        {!findings.length && <p>{words.none}</p>}
        <Listed findings={leading} shown={shown} />
        {others.length > 0 && (
          <details open={shown && others.includes(shown)}>
            <summary>{words.others(others.length)}</summary>
            <Listed findings={others} shown={shown} />
          </details>
        )}
      </nav>
      {shown && (isReady ? <Shown key={shown.finding_id} finding={shown} /> : <Loading />)}
    </main>
  )
}

function Listed({ findings, shown }: { findings: Finding[]; shown: Finding | undefined }) {
  return (
    <ol>
      {findings.map((finding) => (
        <li key={finding.finding_id}>
          <a href={link('findings', finding.finding_id)} aria-current={finding === shown ? 'true' : undefined}>
            <b>{finding.segment}</b>
            <span>
              {page.metrics[finding.metric]!.name} {finding.difference}
              {finding.unit && ' pp'}
            </span>
            <span class="row">
              <span class={`state ${finding.kind}`}>{finding.kind}</span>
              <span class="quiet">{finding.severity}</span>
            </span>
          </a>
        </li>
      ))}
    </ol>
  )
}

function Shown({ finding }: { finding: Finding }) {
  const metric = page.metrics[finding.metric]!
  const isMain = finding.metric === page.mainMetric
  const base = { ...usedFor('release'), ...(isMain ? {} : { metric: metric.name }), ...(isVerdict(finding.metric) ? {} : { sort: metric.name }) }
  const isMean = !finding.unit
  const show = isMean ? formatNumber : formatPoints
  const single = finding.cell.length === 1 ? finding.cell[0] : undefined
  const points = single
    ? pointsOf(finding.metric, page.dimensions[single[0]]!.name, page.dimensions[single[0]]!.segments[single[1]]!, !isMean)
    : []
  const { history } = finding
  return (
    <div class="shown">
      <h2>
        {finding.segment}: {metric.name}
      </h2>
      <p>
        {words.difference}: <b>{finding.difference}</b> {finding.interval}
        {finding.unit} <span class="quiet">({isVerdict(finding.metric) ? words.failing_share : finding.measurement})</span>
        {finding.cost && `; ${finding.cost}`}.
      </p>
      <p class="facts">
        <span class={`tag state ${finding.kind}`}>{finding.kind}</span>
        <span class="tag">
          {words.severity}: <b>{finding.severity}</b>
        </span>
        <span class="tag">
          {words.state}: <b>{finding.status}</b>
        </span>
        <span class="tag">
          {finding.owner}
        </span>
        <span class="tag">
          {words.labels}: <b>{finding.labels}</b> ({finding.counts})
        </span>
        {finding.confirmation && <span class="tag">{finding.confirmation}</span>}
      </p>
      {finding.note && (
        <p>
          {words.note}: {finding.note}
        </p>
      )}
      <p class="row">
        <a class="button" href={link('interactions', '', cellParams(finding.cell, base))}>
          {words.read}
        </a>
        {metric.threshold !== null && (
          <a class="button" href={link('interactions', '', cellParams(finding.cell, { ...usedFor('release'), ...failing(finding.metric) }))}>
            {words.failing}
          </a>
        )}
      </p>
      <Section title={words.examples}>
        <ol class="examples">
          {finding.examples.map((id) => {
            const row = findRow(id)
            const text = row < 0 ? -1 : rows.integers('text')[row]!
            return (
              <li key={id}>
                {row < 0 ? (
                  id
                ) : (
                  <a href={link('interaction', id, cellParams(finding.cell, base))}>
                    <b dir="auto">{text < 0 ? id : blocks.texts('query')[text]!.slice(0, 200)}</b>
                    <span dir="auto">{text < 0 ? '' : blocks.texts('answer')[text]!.slice(0, 240)}</span>
                    <Score row={row} metric={finding.metric} />
                  </a>
                )}
              </li>
            )
          })}
        </ol>
      </Section>
      <div class="columns">
        <Section title={words.history}>
          {history && (
            <ul class="plain">
              {(['firstSeen', 'lastSeen', 'countRuns', 'confirmed', 'retested', 'closed'] as const).map(
                (name) =>
                  history[name] !== null && (
                    <li key={name}>
                      {words.historyLines[name]}: <b>{history[name]}</b>
                    </li>
                  ),
              )}
              {finding.retest && (
                <li>
                  {words.retest}: <b>{finding.retest}</b>{' '}
                  {history.retestDifference !== null &&
                    `${show(history.retestDifference)} [${show(history.retestLow)}, ${show(history.retestHigh)}]`}
                </li>
              )}
            </ul>
          )}
          {points.length > 1 && (
            <>
              <h3>{words.weeks}</h3>
              <Weeks points={points} label={words.weeks} isRate={!isMean} />
            </>
          )}
        </Section>
      </div>
    </div>
  )
}
