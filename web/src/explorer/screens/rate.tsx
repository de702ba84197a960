// A rating there and then: the criteria and the sheet of the rating desk. What the last round did not draw is rated as chosen.
import { useState } from 'preact/hooks'
import { download, nameSheet, writeSheet } from '../../shared/sheet'
import type { Answer } from '../../desk/progress'
import { page, rows } from '../data'
import { formatCount } from '../format'
import { link } from '../route'
import { texts } from '../texts'

const words = texts.rate
const RATER = 'hcat explorer rater'
// another guideline or another draw begins anew
const keyOf = (rater: string): string => `hcat explorer ratings|${page.review?.key}|${rater}`

type Answers = Record<string, Answer>

/** Returns the cells of the sheet that name an answer: those of the draw, or those of an answer that the rater chose. */
function itemOf(id: string): { review_id: string; interaction_id: string } {
  const { items, ids } = page.review!
  const drawn = Object.hasOwn(items, id) ? items[id] : undefined
  const known = Object.hasOwn(ids, id) ? ids[id]! : id
  // an apostrophe keeps a spreadsheet from reading a number; the import takes it off again
  const [review_id, interaction_id] = drawn ?? [`chosen:${known}`, `'${known}`]
  return { review_id, interaction_id }
}

/** Returns who asked an answer's question, as the rates name it. */
function populationOf(row: number): string {
  const place = page.dimensions.findIndex(({ name }) => name === 'population')
  const code = place < 0 ? -1 : rows.integers(`dimension_${place}`)[row]!
  const name = code < 0 ? '' : page.dimensions[place]!.segments[code]!
  return texts.overview.populations[name] ?? name
}

function load<T>(key: string, otherwise: T): T {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '') as T
  } catch {
    return otherwise
  }
}

/** Returns whether this browser keeps the value. */
function store(key: string, value: unknown): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(value))
    return true
  } catch {
    return false
  }
}

export function Rate({ id, row }: { id: string; row: number }) {
  const [rater, setRater] = useState(() => load(RATER, ''))
  const [answers, setAnswers] = useState<Answers>(() => load(keyOf(rater), {}))
  const [isKept, setKept] = useState(true)
  const { review } = page
  const isDrawn = review !== null && Object.hasOwn(review.items, id)
  const change = (criterion: string, given: Answer) => {
    const key = `${id}|1|${criterion}`
    const changed = { ...answers, [key]: { ...answers[key], ...given } }
    setAnswers(changed)
    setKept(store(keyOf(rater), changed))
  }
  const rename = (name: string) => {
    setRater(name)
    setAnswers(load(keyOf(name), {}))
    store(RATER, name)
  }
  const count = Object.values(answers).filter(({ point }) => point !== undefined).length
  const file = nameSheet(review?.round ?? '', rater.trim())
  const save = () => {
    const rated = new Set(Object.keys(answers).map((key) => key.slice(0, key.lastIndexOf('|'))))
    const looks = [...rated].map((look) => ({ id: look, item: itemOf(look.slice(0, look.lastIndexOf('|'))), pass: 1 }))
    const noted = Object.entries(answers).map(([key, each]) => [key, { ...each, note: [each.note?.trim(), words.inSight].filter(Boolean).join('; ') }])
    download(file, writeSheet(review!, looks, { answers: Object.fromEntries(noted) as Answers }, rater.trim()))
  }
  return (
    <details class="rating">
      <summary>{words.title}</summary>
      {!review && <p class="quiet">{words.noRound}</p>}
      {review && (
        <>
          <p class="quiet">
            {isDrawn ? words.drawn(review.round) : words.chosen(review.round, populationOf(row))} {words.notBlind}{' '}
            <a href={link('interactions', '', new URLSearchParams({ drawn: review.round }))}>
              {words.list(formatCount(Object.keys(review.items).length))}
            </a>
          </p>
          <label class="choice">
            <span>{words.rater}</span>
            <input name="rater" maxLength={100} autoComplete="off" value={rater} onInput={(event) => rename(event.currentTarget.value)} />
          </label>
          {review.criteria.map(({ criterion, points }) => {
            const given = answers[`${id}|1|${criterion}`]
            const choices = [...points, { point: review.cannot_judge, label: words.cannotJudge, text: '' }]
            return (
              <fieldset key={criterion} disabled={!rater.trim()}>
                <legend>{criterion.replaceAll('_', ' ')}</legend>
                {choices.map(({ point, label, text }) => (
                  <label key={point}>
                    <input
                      type="radio"
                      name={`rate-${criterion}`}
                      checked={given?.point === point}
                      onChange={() => change(criterion, { point, at: new Date().toISOString().replace(/\.\d+Z$/, 'Z') })}
                    />
                    <span>
                      <b>{label}</b> {text}
                    </span>
                  </label>
                ))}
                <input
                  type="text"
                  maxLength={2000}
                  placeholder={words.note}
                  aria-label={`${words.note}: ${criterion}`}
                  value={given?.note ?? ''}
                  onInput={(event) => change(criterion, { note: event.currentTarget.value })}
                />
              </fieldset>
            )
          })}
        </>
      )}
      {review && count > 0 && (
        <p class="row">
          <span role="status">{words.count(count)} {!isKept && <b class="bad">{words.notKept}</b>}</span>
          <button type="button" onClick={save}>
            {words.save}
          </button>
          <code>{words.next(file)}</code>
        </p>
      )}
    </details>
  )
}
