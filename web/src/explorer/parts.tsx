// What several screens draw: intervals, lines, heat cells, choices.
import { Fragment } from 'preact'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { formatInterval, formatNumber, formatPercent } from './format'
import { texts } from './texts'
import type { Part } from './words'

/** Returns whether what `load` decodes is there; it is called again when a dependency changes. */
export function useReady(load: () => Promise<unknown>, dependencies: unknown[]): boolean {
  const [ready, setReady] = useState<string | null>(null)
  const [problem, setProblem] = useState<unknown>(null)
  const key = JSON.stringify(dependencies)
  useEffect(() => {
    let isCurrent = true
    load().then(
      () => isCurrent && setReady(key),
      (error: unknown) => isCurrent && setProblem(error),
    )
    return () => {
      isCurrent = false
    }
  }, [key])
  if (problem) throw problem
  return ready === key
}

export function Loading() {
  return (
    <p class="quiet" role="status">
      {texts.loading}
    </p>
  )
}

export function Select(props: {
  label: string
  value: string
  options: [string, string][]
  onChange: (value: string) => void
}) {
  return (
    <label class="choice">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A name that may break after its underscores. */
export function Name({ children }: { children: string }) {
  return (
    <>
      {children.split(/(?<=_)/).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  )
}

/** Shares with their intervals, each on a line from 0 to `most`. */
export function Intervals({ values, most = 1 }: { values: { value: number; low: number; high: number }[]; most?: number }) {
  const x = (share: number) => 4 + Math.min(1, Math.max(0, share / most)) * 132
  const height = 4 + 12 * values.length
  return (
    <svg class="interval" viewBox={`0 0 140 ${height}`} width="140" height={height} aria-hidden="true">
      {values.map(({ value, low, high }, lane) => {
        const y = 8 + 12 * lane
        return (
          <g key={lane}>
            <line class="axis" x1={4} y1={y} x2={136} y2={y} />
            {Number.isFinite(low) && <path class="range" d={`M${x(low)} ${y - 3}v6m0-3H${x(high)}m0-3v6`} />}
            {Number.isFinite(value) && <Dot x={x(value)} y={y} shape={lane} />}
          </g>
        )
      })}
    </svg>
  )
}

/** A point whose shape tells systems apart, where colours cannot be told apart. */
export function Dot({ x, y, shape }: { x: number; y: number; shape: number }) {
  const name = `dot dot${shape % 4}`
  if (shape % 4 === 1) return <rect class={name} x={x - 3.5} y={y - 3.5} width={7} height={7} />
  if (shape % 4 === 2) return <path class={name} d={`M${x} ${y - 5}l4.6 8h-9.2z`} />
  if (shape % 4 === 3) return <path class={name} d={`M${x} ${y - 5}l5 5-5 5-5-5z`} />
  return <circle class={name} cx={x} cy={y} r={3.6} />
}

export interface Cell {
  share: number
  low: number
  high: number
  isRate: boolean
  /** 0 best to 1 worst. */
  shade: number
  n: number
  marks: number
  /** What the frame of a weak cell speaks of, if it is not the value shown. */
  tested: string
  onSelect?: () => void
  name: string
}

export const SMALL = 1
export const WEAK = 2
export const CONFIRMED = 4
export const UNSURE = 8

/** A cell of a map: a button with value, interval and n; pattern and frame say what colour alone would. */
export function HeatCell({ cell }: { cell: Cell | undefined }) {
  if (!cell) return <td class="heat" />
  const format = cell.isRate ? formatPercent : formatNumber
  const classes = ['heat']
  if (cell.marks & SMALL) classes.push('small')
  if (cell.marks & UNSURE) classes.push('unsure')
  if (cell.marks & WEAK) classes.push('weak')
  if (cell.marks & CONFIRMED) classes.push('confirmed')
  const said = [
    cell.name,
    cell.marks & CONFIRMED ? texts.map.legend.confirmed : cell.marks & WEAK ? texts.map.legend.weak : '',
    cell.marks & SMALL ? texts.map.legend.small : '',
  ].filter(Boolean)
  return (
    <td class={classes.join(' ')} style={{ '--shade': Number.isFinite(cell.shade) ? cell.shade : 0 }}>
      <button type="button" onClick={cell.onSelect} disabled={!cell.onSelect} title={said.join('; ')}>
        <b>{Number.isFinite(cell.share) ? format(cell.share) : '–'}</b>
        {Number.isFinite(cell.low) && (
          <span>{formatInterval(cell.low, cell.high, format)}</span>
        )}
        <span>{texts.map.n(cell.n.toLocaleString('en'))}</span>
        {cell.tested && <span>{cell.tested}</span>}
      </button>
    </td>
  )
}

export interface Point {
  week: string
  value: number
  low: number
  high: number
  n: number
  isAlarm?: boolean
}

/** Returns round numbers between two ends, four to eight of them. */
function roundTicks(low: number, high: number): number[] {
  const unit = 10 ** Math.floor(Math.log10((high - low) / 4))
  const step = [5, 2, 1].map((times) => times * unit).find((each) => (high - low) / each >= 4) ?? unit
  const first = Math.ceil(low / step)
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(6)))
}

/** Weekly values with intervals as a line; a band, and the weeks of an alarm as filled squares on the axis. */
export function Weeks(props: {
  points: Point[]
  label: string
  band?: [number, number] | null
  reference?: number | null
  isTall?: boolean
  isRate?: boolean
}) {
  const { points, band, reference, isTall = false } = props
  const known = points.filter((point) => Number.isFinite(point.value))
  if (known.length < 2) return null
  const [width, height, left, right, bottom] = isTall ? [760, 260, 46, 24, 30] : [300, 64, 46, 10, 6]
  const ends = [
    ...known.flatMap((point) => [point.value, point.low, point.high].filter(Number.isFinite)),
    ...(band ?? []),
    ...(reference === null || reference === undefined ? [] : [reference]),
  ]
  let [low, high] = [Math.min(...ends), Math.max(...ends)]
  const margin = (high - low || 1) * 0.08
  ;[low, high] = [low - margin, high + margin]
  // a share has no place below nothing or above all
  if (props.isRate) [low, high] = [Math.max(low, -0.02), Math.min(high, 1.02)]
  const step = (width - left - right) / Math.max(1, points.length - 1)
  const x = (index: number) => left + index * step
  const y = (value: number) => 6 + ((high - value) / (high - low)) * (height - bottom - 12)
  const format = props.isRate ? formatPercent : formatNumber
  const ticks = isTall ? roundTicks(low, high) : [Math.min(...ends), Math.max(...ends)]
  const place = new Map(points.map((point, index) => [point, index]))
  const area = known.filter((point) => Number.isFinite(point.low))
  const outline = [
    ...area.map((point) => `${x(place.get(point)!).toFixed(1)},${y(point.high).toFixed(1)}`),
    ...[...area].reverse().map((point) => `${x(place.get(point)!).toFixed(1)},${y(point.low).toFixed(1)}`),
  ]
  return (
    <svg class={isTall ? 'weeks tall' : 'weeks'} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={props.label}>
      {band && (
        <rect class="band" x={left} y={y(Math.min(high, band[1]))} width={width - left - right} height={Math.max(1, y(Math.max(low, band[0])) - y(Math.min(high, band[1])))} />
      )}
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={left} y1={y(tick)} x2={width - right} y2={y(tick)} />
          <text class="tick" x={left - 5} y={y(tick) + 3.5} text-anchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {area.length > 1 && <polygon class="area" points={outline.join(' ')} />}
      {reference !== null && reference !== undefined && (
        <line class="reference" x1={left} y1={y(reference)} x2={width - right} y2={y(reference)} />
      )}
      <polyline class="line" points={known.map((point) => `${x(place.get(point)!).toFixed(1)},${y(point.value).toFixed(1)}`).join(' ')} />
      {known.map((point) =>
        point.isAlarm ? (
          <rect key={point.week} class="dot alarm" x={x(place.get(point)!) - 4} y={y(point.value) - 4} width={8} height={8} />
        ) : (
          <circle key={point.week} class="dot dot0" cx={x(place.get(point)!)} cy={y(point.value)} r={isTall ? 3.5 : 2.2} />
        ),
      )}
      {isTall &&
        points.map(
          (point, index) =>
            (index % Math.ceil(points.length / 12) === 0 || index === points.length - 1) && (
              <text key={point.week} class="tick" x={x(index)} y={height - 8} text-anchor="middle">
                {point.week.slice(5)}
              </text>
            ),
        )}
    </svg>
  )
}

/** A text in parts; each mark has an element and a class. */
export function Marked({ parts, classes }: { parts: Part[]; classes: string[] }) {
  return (
    <>
      {parts.map((part, index) =>
        part.marks.length ? (
          <mark key={index} class={part.marks.map((mark) => classes[mark]).join(' ')}>
            {part.text}
          </mark>
        ) : (
          part.text
        ),
      )}
    </>
  )
}

export function Section(props: { title: string; children: ComponentChildren; note?: ComponentChildren; class?: string }) {
  return (
    <section class={props.class}>
      <h2>{props.title}</h2>
      {props.note && <p class="quiet">{props.note}</p>}
      {props.children}
    </section>
  )
}
