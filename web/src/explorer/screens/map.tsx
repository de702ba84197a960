// The map of weakness: a metric by two dimensions, or all metrics by the segments of one.
import { decided, isVerdict, page, primary } from '../data'
import { findCell, loadCells, pairs, segmentsOf, toHeat, valueOf } from '../cells'
import { HeatCell, Loading, Name, Select, useReady } from '../parts'
import type { Cell } from '../parts'
import { change, go, link } from '../route'
import type { Route } from '../route'
import { metricOf } from '../selection'
import { texts } from '../texts'

const words = texts.map
const ALL = 'metrics'

export function WeaknessMap({ route }: { route: Route }) {
  const { params } = route
  const isReady = useReady(loadCells, [])
  if (!isReady) return <main id="content" class="page"><Loading /></main>
  const known = pairs()
  const names = page.dimensions.map((dimension) => dimension.name)
  const options: [string, string][] = [
    ...known.map(([a, b]): [string, string] => [`${names[a]}~${names[b]}`, `${title(names[a]!)} × ${title(names[b]!)}`]),
    ...names.map((name): [string, string] => [`${name}~${ALL}`, `${title(name)} × ${words.against}`]),
  ]
  const chosen = options.some(([value]) => value === params.get('pair')) ? params.get('pair')! : (options[0]?.[0] ?? '')
  const [first = '', second = ''] = chosen.split('~')
  const metric = metricOf(params)
  const set = (changes: Record<string, string>) => go(link('map', '', change(params, changes)))
  const metrics = [...new Set([page.mainMetric, ...decided.filter((index) => page.metrics[index]!.isPrimary), ...primary])]
  return (
    <main id="content" class="page">
      <div class="row">
        <h1>{words.title}</h1>
        <span class="spring" />
        {second !== ALL && (
          <Select
            label={words.metric}
            value={page.metrics[metric]!.name}
            options={metrics.map((index) => [page.metrics[index]!.name, page.metrics[index]!.name])}
            onChange={(value) => set({ metric: value })}
          />
        )}
        <Select label={words.pair} value={chosen} options={options} onChange={(pair) => set({ pair })} />
      </div>
      <p class="quiet">{(second !== ALL && noteOf(metric)) || words.note}</p>
      {second === ALL ? (
        <MetricGrid dimension={names.indexOf(first)} metrics={metrics} />
      ) : (
        <PairGrid metric={metric} first={names.indexOf(first)} second={names.indexOf(second)} />
      )}
      <MapLegend />
    </main>
  )
}

const title = (name: string): string => name.replaceAll('_', ' ')

/** Returns whose answers the cells of the verdict are, and where their rates come from; null for other metrics. */
export function noteOf(metric: number): string | null {
  const populations = page.releasedOn.map((name) => texts.overview.populations[name] ?? name)
  return isVerdict(metric) ? words.ofVerdict(page.live.filter((name) => name !== 'unnamed').join(', '), populations.join(', ')) : null
}

/** One metric by the segments of two dimensions; rows and columns without a cell are left out. */
export function PairGrid({ metric, first, second }: { metric: number; first: number; second: number }) {
  if (first < 0 || second < 0) return <p class="empty">{words.noCells}</p>
  const [one, other] = [page.dimensions[first]!, page.dimensions[second]!]
  const place = (a: number, b: number) => findCell(metric, first, a, second, b)
  const rows = one.segments.map((_, a) => a).filter((a) => other.segments.some((_, b) => place(a, b) >= 0))
  const columns = other.segments.map((_, b) => b).filter((b) => rows.some((a) => place(a, b) >= 0))
  const indices = rows.flatMap((a) => columns.map((b) => place(a, b))).filter((index) => index >= 0)
  if (!indices.length) return <p class="empty">{words.noCells}</p>
  const name = page.metrics[metric]!.name
  const heat = toHeat(indices, (index) => describe(index, name))
  return (
    <Grid
      caption={isVerdict(metric) ? words.value(true) : `${name}: ${words.value(valueOf(indices[0]!).isRate)}`}
      corner={`${title(one.name)} \\ ${title(other.name)}`}
      columns={columns.map((b) => other.segments[b]!)}
      rows={rows.map((a) => ({ name: one.segments[a]!, cells: columns.map((b) => heat.get(place(a, b))) }))}
    />
  )
}

function MetricGrid({ dimension, metrics }: { dimension: number; metrics: number[] }) {
  const { segments } = page.dimensions[dimension]!
  const place = (segment: number, metric: number) => findCell(metric, dimension, segment)
  const shown = metrics.filter((metric) => segments.some((_, segment) => place(segment, metric) >= 0))
  const rows = segments.map((_, segment) => segment).filter((segment) => shown.some((metric) => place(segment, metric) >= 0))
  if (!rows.length) return <p class="empty">{words.noCells}</p>
  const heat = new Map(
    shown.flatMap((metric) => [
      ...toHeat(
        rows.map((segment) => place(segment, metric)).filter((index) => index >= 0),
        (index) => describe(index, page.metrics[metric]!.name),
      ),
    ]),
  )
  return (
    <Grid
      caption={title(page.dimensions[dimension]!.name)}
      corner={title(page.dimensions[dimension]!.name)}
      columns={shown.map((metric) => page.metrics[metric]!.name)}
      rows={rows.map((segment) => ({ name: segments[segment]!, cells: shown.map((metric) => heat.get(place(segment, metric))) }))}
    />
  )
}

function describe(index: number, metric: string): string {
  return [metric, ...segmentsOf(index).map(([dimension, segment]) => `${title(dimension)} ${segment}`)].join(', ')
}

export function Grid(props: {
  caption: string
  corner: string
  columns: string[]
  rows: { name: string; cells: (Cell | undefined)[] }[]
}) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label={props.caption}>
      <table class="grid">
        <caption>{props.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{props.corner}</th>
            {props.columns.map((column) => (
              <th scope="col" key={column}>
                <Name>{column}</Name>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">
                <Name>{row.name}</Name>
              </th>
              {row.cells.map((cell, index) => (
                <HeatCell key={index} cell={cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export function MapLegend() {
  return (
    <p class="legend">
      <span>
        {words.legend.ramp[0]} <span class="ramp" aria-hidden="true" /> {words.legend.ramp[1]}
      </span>
      <span>
        <span class="swatch small" aria-hidden="true" /> {words.legend.small}
      </span>
      <span>
        <span class="swatch unsure" aria-hidden="true" /> {words.legend.unsure}
      </span>
      <span>
        <span class="swatch weak" aria-hidden="true" /> {words.legend.weak}
      </span>
      <span>
        <span class="swatch confirmed" aria-hidden="true" /> {words.legend.confirmed}
      </span>
    </p>
  )
}
