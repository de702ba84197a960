// Weekly series: of a metric in all interactions or in one segment.
import { page, weeks } from './data'
import type { Point } from './parts'

const NUMBERS = ['mean_score', 'mean_lower', 'mean_upper', 'share_failing', 'share_failing_lower', 'share_failing_upper']

let bySeries: Map<string, number[]> | undefined

export async function loadWeeks(): Promise<void> {
  await weeks.load(['metric', 'dimension', 'segment', 'week', 'status', 'count_scored', ...NUMBERS])
  if (bySeries) return
  bySeries = new Map()
  const [metrics, dimensions, segments] = [weeks.integers('metric'), weeks.texts('dimension'), weeks.texts('segment')]
  for (let index = 0; index < metrics.length; index++) {
    const key = `${metrics[index]}|${dimensions[index]}|${segments[index]}`
    const own = bySeries.get(key)
    if (own) own.push(index)
    else bySeries.set(key, [index])
  }
}

export interface SeriesName {
  metric: number
  dimension: string
  segment: string
}

/** Returns the names of all series. */
export function seriesNames(): SeriesName[] {
  return [...(bySeries?.values() ?? [])].map(([index]) => ({
    metric: weeks.integers('metric')[index!]!,
    dimension: weeks.texts('dimension')[index!]!,
    segment: weeks.texts('segment')[index!]!,
  }))
}

/** Returns the complete weeks of a series, marked where an alarm covers them. */
export function pointsOf(metric: number, dimension: string, segment: string, isRate: boolean): Point[] {
  const alarms = page.alarms.filter(
    (each) => each.isDrifting && each.metric === metric && each.dimension === dimension && each.segment === segment,
  )
  const [value, low, high] = (isRate ? ['share_failing', 'share_failing_lower', 'share_failing_upper'] : ['mean_score', 'mean_lower', 'mean_upper']).map(
    (name) => weeks.numbers(name),
  )
  return (bySeries?.get(`${metric}|${dimension}|${segment}`) ?? [])
    .filter((index) => weeks.texts('status')[index] === 'complete')
    .map((index) => {
      const week = weeks.texts('week')[index]!
      return {
        week,
        value: value![index]!,
        low: low![index]!,
        high: high![index]!,
        n: weeks.integers('count_scored')[index]!,
        isAlarm: alarms.some((alarm) => alarm.start <= week && week <= alarm.end),
      }
    })
}
