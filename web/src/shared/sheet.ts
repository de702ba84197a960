// The sheet that `hcat labels import` takes: cells as hcat.review.sheets writes them.

import type { DeskData, Item } from '../desk/data'
import type { Progress } from '../desk/progress'

/** What a sheet needs to know of a round, of an answer that was read, and of its ratings. */
export type Round = Pick<DeskData, 'columns' | 'criteria' | 'review_round'>
export interface Read {
  id: string
  item: Pick<Item, 'review_id' | 'interaction_id'>
  pass: number
}

// A spreadsheet runs what begins like this; an apostrophe before it makes it text, and the import takes it off again.
const DANGEROUS = /^(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])/

export function neutralise(text: string): string {
  return DANGEROUS.test(text) || text.startsWith("'") ? `'${text}` : text
}

function quote(cell: string): string {
  return /[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

export function writeSheet(data: Round, looks: Read[], progress: Pick<Progress, 'answers'>, rater: string): string {
  const rows = [data.columns]
  for (const look of looks) {
    for (const { criterion, guideline_version } of data.criteria) {
      const answer = progress.answers[`${look.id}|${criterion}`]
      if (answer?.point === undefined) continue
      const cells: Record<string, string | number | undefined> = {
        review_id: look.item.review_id,
        review_round: data.review_round,
        interaction_id: look.item.interaction_id,
        criterion,
        guideline_version,
        scale_point: answer.point,
        rater: neutralise(rater),
        comment: neutralise(answer.note?.trim() ?? ''),
        rating_pass: look.pass,
        reason_start: answer.start,
        reason_end: answer.end,
        rated_at: answer.at,
      }
      rows.push(data.columns.map((column) => String(cells[column] ?? '')))
    }
  }
  // the byte order mark tells spreadsheets that this is UTF-8
  return '\ufeff' + rows.map((row) => row.map(quote).join(',') + '\r\n').join('')
}

/** Hands a file to the reader; nothing leaves the page. */
export function download(name: string, content: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([content], { type: 'text/csv' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

export function nameSheet(round: string, rater: string): string {
  return `ratings_${round}_${rater.replace(/[^\p{L}\p{N}_.-]+/gu, '_')}.csv`
}
