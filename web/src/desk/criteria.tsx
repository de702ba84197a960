import type { Ref } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Criterion, DeskData, Point } from './data'
import type { Answer } from './progress'
import { capitalise, TEXTS } from './texts'

// What an answer says: the label of its scale point, or that nobody can judge.
export function nameAnswer(criterion: Criterion, answer: Answer | undefined): string | null {
  if (answer?.point === undefined) return null
  return criterion.points.find(({ point }) => point === answer.point)?.label ?? TEXTS.cannotJudge
}

// The digit of a scale point: the point itself, or its place from 1 where a point of the scale is no digit.
export function keyOfPoint(points: Point[], index: number): string {
  const point = points[index]?.point ?? 0
  return String(points.every((each) => each.point >= 0 && each.point <= 9) ? point : index + 1)
}

// One criterion: open with its guideline, or closed with what was answered.
export function CriterionPanel({
  data,
  criterion,
  answer,
  isOpen,
  reason,
  note,
  onOpen,
  onPoint,
  onNote,
  onMark,
  onUnmark,
}: {
  data: DeskData
  criterion: Criterion
  answer: Answer | undefined
  isOpen: boolean
  reason: string | null
  note: Ref<HTMLTextAreaElement>
  onOpen: () => void
  onPoint: (point: number | string) => void
  onNote: (text: string) => void
  onMark: () => void
  onUnmark: () => void
}) {
  const name = capitalise(criterion.criterion)
  const said = nameAnswer(criterion, answer)
  const choices = [
    ...criterion.points.map(({ point, label, text }, index) => ({
      point: point as number | string,
      key: keyOfPoint(criterion.points, index),
      label,
      text,
    })),
    { point: data.cannot_judge, key: 'c', label: TEXTS.cannotJudge, text: TEXTS.cannotJudgeText },
  ]
  const panel = useRef<HTMLLIElement>(null)
  // before the desk scrolls to the top of a new answer
  useLayoutEffect(() => {
    if (isOpen) panel.current?.scrollIntoView({ block: 'nearest' })
  }, [isOpen])
  return (
    <li ref={panel} class={isOpen ? 'criterion open' : 'criterion'}>
      <h3>
        <button type="button" class="title" aria-expanded={isOpen} onClick={onOpen}>
          <span>{name}</span>
          <small class={said ? 'said' : ''}>{said ?? TEXTS.notYet}</small>
        </button>
      </h3>
      {isOpen && (
        <div role="group" aria-label={name}>
          {choices.map(({ point, key, label, text }) => (
            <button
              key={key}
              type="button"
              class="choice"
              aria-pressed={answer?.point === point}
              onClick={() => onPoint(point)}
            >
              <kbd>{key}</kbd>
              <span>
                <strong>{label}</strong> {text}
              </span>
            </button>
          ))}
          <div class="reason">
            <button type="button" class="quiet" onMouseDown={(event) => event.preventDefault()} onClick={onMark}>
              {TEXTS.mark} <kbd>m</kbd>
            </button>
            {reason === null ? (
              <small>{TEXTS.markHint}</small>
            ) : (
              <button type="button" class="quiet" onClick={onUnmark}>
                {TEXTS.unmark}
              </button>
            )}
            {reason !== null && <p class="quoted">{TEXTS.marked(reason)}</p>}
          </div>
          <label class="note">
            <span>
              {TEXTS.note} <kbd>n</kbd>
            </span>
            <textarea
              ref={note}
              rows={2}
              maxLength={2000}
              placeholder={TEXTS.noteHint}
              value={answer?.note ?? ''}
              onInput={(event) => onNote(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === 'Escape') event.currentTarget.blur()
              }}
            />
          </label>
        </div>
      )}
    </li>
  )
}
