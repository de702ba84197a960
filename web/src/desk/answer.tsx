import type { Ref } from 'preact'
import { showHidden } from './passages'
import { TEXTS } from './texts'

// The answer with one passage marked: text nodes only, so that places can be counted and nothing of it is run.
export function AnswerText({
  text,
  passage,
  isChoosing,
  box,
}: {
  text: string
  passage: [number, number] | null
  isChoosing: boolean
  box: Ref<HTMLDivElement>
}) {
  const [start, end] = passage ?? [0, 0]
  return (
    <div class={isChoosing ? 'text answer choosing' : 'text answer'} ref={box} tabIndex={0} role="group" dir="auto" aria-label={TEXTS.answer}>
      {start < end ? [text.slice(0, start), <mark key="mark">{text.slice(start, end)}</mark>, text.slice(end)] : text}
    </div>
  )
}

// What was retrieved, with the titles of the documents.
export function Passages({ passages }: { passages: [string, string][] }) {
  return (
    <ol class="contexts">
      {passages.map(([title, text], index) => (
        <li key={index} aria-label={TEXTS.context(index + 1)}>
          <div class="text" dir="auto">
            {title && <strong>{showHidden(title)}</strong>}
            {showHidden(text)}
          </div>
        </li>
      ))}
    </ol>
  )
}

// The selected words inside a box as (start, end) in UTF-16 units, without the blanks around them.
export function readSelection(box: HTMLElement | null): [number, number] | null {
  const selection = document.getSelection()
  if (!box || !selection || selection.rangeCount === 0 || selection.isCollapsed) return null
  const range = selection.getRangeAt(0)
  if (!box.contains(range.startContainer) || !box.contains(range.endContainer)) return null
  const before = document.createRange()
  before.selectNodeContents(box)
  before.setEnd(range.startContainer, range.startOffset)
  const text = range.toString()
  const start = before.toString().length + text.length - text.trimStart().length
  const end = before.toString().length + text.trimEnd().length
  return start < end ? [start, end] : null
}
