// What a rater has answered, kept in the browser's storage against a closed tab.

import type { Criterion, DeskData, Look } from './data'

export interface Answer {
  point?: number | string
  // characters of the logged answer
  start?: number
  end?: number
  note?: string
  at?: string
}

export interface Progress {
  // by look and criterion
  answers: Record<string, Answer>
  // looks that the rater put off
  skipped: string[]
  // of the looks that were completed, in the order of completion
  seconds: Record<string, number>
}

export const NOTHING: Progress = { answers: {}, skipped: [], seconds: {} }

// A pause is no reading time.
const LONGEST_SECONDS = 900

export function storageKey(data: DeskData, rater: string): string {
  return `hcat desk|${data.key}|${rater}`
}

// What is stored, without a trace of having looked.
export function peek(key: string): Progress {
  try {
    const saved = localStorage.getItem(key)
    return saved === null ? NOTHING : { ...NOTHING, ...(JSON.parse(saved) as Progress) }
  } catch {
    return NOTHING
  }
}

// null = this browser keeps nothing
export function load(key: string): Progress | null {
  try {
    const saved = localStorage.getItem(key)
    localStorage.setItem(key, saved ?? JSON.stringify(NOTHING))
    return saved === null ? NOTHING : { ...NOTHING, ...(JSON.parse(saved) as Progress) }
  } catch {
    return null
  }
}

export function store(key: string, progress: Progress): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(progress))
    return true
  } catch {
    return false
  }
}

export function missingCriteria(progress: Progress, look: Look, criteria: Criterion[]): Criterion[] {
  return criteria.filter(({ criterion }) => progress.answers[`${look.id}|${criterion}`]?.point === undefined)
}

export function isComplete(progress: Progress, look: Look, criteria: Criterion[]): boolean {
  return missingCriteria(progress, look, criteria).length === 0
}

export function withAnswer(progress: Progress, id: string, change: Answer): Progress {
  return { ...progress, answers: { ...progress.answers, [id]: { ...progress.answers[id], ...change } } }
}

export function withSeconds(progress: Progress, look: Look, seconds: number): Progress {
  if (look.id in progress.seconds || seconds > LONGEST_SECONDS) return progress
  return { ...progress, seconds: { ...progress.seconds, [look.id]: seconds } }
}

// Estimated seconds left: the median of the looks so far times the looks left; null before the third.
export function secondsLeft(progress: Progress, countLeft: number): number | null {
  const sorted = Object.values(progress.seconds).sort((one, other) => one - other)
  if (sorted.length < 3) return null
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  const median = sorted.length % 2 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2
  return median * countLeft
}

// The next look without all answers after a place, skipped ones last; -1 when nothing is left.
export function findNext(progress: Progress, looks: Look[], criteria: Criterion[], after: number): number {
  const order = [...looks.keys()].map((step) => (after + 1 + step) % looks.length)
  const open = order.filter((place) => {
    const look = looks[place]
    return look !== undefined && !isComplete(progress, look, criteria)
  })
  const isSkipped = (place: number) => progress.skipped.includes(looks[place]?.id ?? '')
  return open.find((place) => !isSkipped(place)) ?? open[0] ?? -1
}
