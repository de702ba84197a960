import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { AnswerText, Passages, readSelection } from './answer'
import { CriterionPanel, keyOfPoint, nameAnswer } from './criteria'
import { type Criterion, type DeskData, listLooks, type Rater } from './data'
import { Finish } from './finish'
import { type Keys, useKeys } from './keys'
import { countCharacters, countUnits, listSentences, showHidden, toLogged, toShown } from './passages'
import {
  type Answer,
  findNext,
  isComplete,
  load,
  missingCriteria,
  NOTHING,
  type Progress,
  secondsLeft,
  storageKey,
  store,
  withAnswer,
  withSeconds,
} from './progress'
import { download, nameSheet, writeSheet } from '../shared/sheet'
import { capitalise, TEXTS } from './texts'

// Where a rater stands: a look, the criterion that keys refer to, and the sentences that are being chosen.
interface Place {
  look: number
  criterion: number
  sentences: [number, number] | null
}

// The desk of one rater, from the first answer to the last screen.
export function Rating({ data, rater, name }: { data: DeskData; rater: Rater; name: string }) {
  const key = storageKey(data, name)
  const looks = useMemo(() => listLooks(data, rater), [])
  const found = useMemo(() => load(key), [])
  const [progress, setProgress] = useState<Progress>(found ?? NOTHING)
  const [isKept, setKept] = useState(found !== null)
  const first = useMemo(() => findNext(progress, looks, data.criteria, -1), [])
  const [place, setPlace] = useState<Place>(() => at(first, progress))
  const [message, say] = useState('')
  const [areKeysOn, setKeysOn] = useState(true)
  // the look whose further passages the rater asked for
  const [opened, open] = useState('')
  const past = useRef<{ progress: Progress; place: Place; note?: string }[]>([])
  const shownAt = useRef(performance.now())
  const heading = useRef<HTMLHeadingElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const note = useRef<HTMLTextAreaElement>(null)
  const next = useRef<HTMLButtonElement>(null)

  const look = looks[place.look]
  const criterion = data.criteria[place.criterion]
  const isOpened = look !== undefined && opened === look.id
  const shown = useMemo(() => showHidden(look?.item.answer ?? ''), [look])
  const sentences = useMemo(() => listSentences(shown), [shown])
  const countDone = looks.filter((each) => isComplete(progress, each, data.criteria)).length
  const countSkipped = looks.filter((each) => progress.skipped.includes(each.id) && !isComplete(progress, each, data.criteria)).length
  const file = nameSheet(data.round, name)

  // the first criterion without an answer is the one to rate
  function at(index: number, known: Progress): Place {
    const look = looks[index]
    const open = look ? data.criteria.findIndex(({ criterion }) => known.answers[`${look.id}|${criterion}`]?.point === undefined) : 0
    return { look: index, criterion: Math.max(open, 0), sentences: null }
  }

  useLayoutEffect(() => {
    shownAt.current = performance.now()
    window.scrollTo(0, 0)
    ;(heading.current ?? document.querySelector<HTMLElement>('.finish h2'))?.focus()
  }, [place.look])

  useEffect(() => {
    // another tab with the same round and rater: what it wrote counts here too
    const follow = (event: StorageEvent) => {
      if (event.key === key && event.newValue) setProgress(JSON.parse(event.newValue) as Progress)
    }
    window.addEventListener('storage', follow)
    return () => window.removeEventListener('storage', follow)
  }, [])

  useEffect(() => {
    if (isKept) return
    const warn = (event: Event) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isKept])

  function keep(changed: Progress, moved: Place): void {
    setProgress(changed)
    setPlace(moved)
    setKept(store(key, changed))
  }

  // a step that can be undone
  function change(changed: Progress, moved: Place): void {
    past.current.push({ progress, place })
    keep(changed, moved)
  }

  // the letters of one note are one step
  function write(text: string): void {
    if (!look || !criterion) return
    const id = `${look.id}|${criterion.criterion}`
    if (past.current.at(-1)?.note !== id) past.current.push({ progress, place, note: id })
    keep(withAnswer(progress, id, { note: text }), place)
  }

  function answer(given: Answer, moved: Place): void {
    if (!look || !criterion) return
    change(withAnswer(progress, `${look.id}|${criterion.criterion}`, given), moved)
  }

  function choose(point: number | string): void {
    if (!look || !criterion) return
    const given: Answer = { point, at: new Date().toISOString().replace(/\.\d+Z$/, 'Z') }
    const later = data.criteria.findIndex(
      (each, index) => index !== place.criterion && progress.answers[`${look.id}|${each.criterion}`]?.point === undefined,
    )
    const changed = withAnswer(progress, `${look.id}|${criterion.criterion}`, given)
    const seconds = (performance.now() - shownAt.current) / 1000
    const isDone = isComplete(changed, look, data.criteria)
    change(
      isDone ? withSeconds(changed, look, seconds) : changed,
      { ...place, criterion: later < 0 ? place.criterion : later, sentences: null },
    )
    const label = nameAnswer(criterion, given) ?? ''
    say(TEXTS.saidPoint(capitalise(criterion.criterion), label))
    if (isDone) next.current?.focus()
  }

  function go(index: number): void {
    say('')
    setPlace(at(index, progress))
  }

  function goNext(): void {
    if (!look) return
    const missing = missingCriteria(progress, look, data.criteria)
    if (missing.length) {
      say(TEXTS.saidLeft(missing.map((each) => capitalise(each.criterion)).join(', ')))
      setPlace(at(place.look, progress))
      return
    }
    go(findNext(progress, looks, data.criteria, place.look))
  }

  function skip(): void {
    if (!look) return
    const changed = { ...progress, skipped: [...new Set([...progress.skipped, look.id])] }
    say('')
    change(changed, at(findNext(changed, looks, data.criteria, place.look), changed))
  }

  function undo(): void {
    const before = past.current.pop()
    if (!before) return say(TEXTS.saidNothingToUndo)
    keep(before.progress, before.place)
    say(TEXTS.saidUndone)
  }

  function save(): void {
    const content = writeSheet(data, looks, progress, name)
    const count = Object.values(progress.answers).filter(({ point }) => point !== undefined).length
    if (!count) return say(TEXTS.saidNothingToSave)
    download(file, content)
    say(TEXTS.saidSaved(count, file))
  }

  // the passage in UTF-16 units of the shown answer
  function markUnits(start: number, end: number): void {
    if (!look) return
    const edges = [
      toLogged(look.item.masks, countCharacters(shown, start), 'start'),
      toLogged(look.item.masks, countCharacters(shown, end), 'end'),
    ]
    answer({ start: edges[0], end: edges[1] }, { ...place, sentences: null })
    document.getSelection()?.removeAllRanges()
    leaveAnswer()
    say(TEXTS.saidMarked)
  }

  function mark(): void {
    const selected = readSelection(box.current)
    if (selected) return markUnits(...selected)
    if (!sentences.length) return say(TEXTS.saidNoSentence)
    box.current?.focus()
    chooseSentences(0, 0)
  }

  function unmark(): void {
    answer({ start: undefined, end: undefined }, place)
    say(TEXTS.saidUnmarked)
  }

  function chooseSentences(start: number, end: number): void {
    const last = sentences.length - 1
    const kept: [number, number] = [Math.min(Math.max(start, 0), last), Math.min(Math.max(end, start, 0), last)]
    setPlace({ ...place, sentences: kept })
    say(TEXTS.marking(kept[1] + 1, sentences.length))
  }

  // in the answer, the arrow keys scroll
  function leaveAnswer(): void {
    heading.current?.focus({ preventScroll: true })
  }

  function closeSentences(): void {
    setPlace({ ...place, sentences: null })
    leaveAnswer()
    say('')
  }

  const chosen = place.sentences
  const choosing: Keys = chosen
    ? {
        ArrowLeft: () => chooseSentences(chosen[0] - 1, chosen[0] - 1),
        ArrowRight: () => chooseSentences(chosen[1] + 1, chosen[1] + 1),
        'Shift+ArrowLeft': () => chooseSentences(chosen[0], chosen[1] - 1),
        'Shift+ArrowRight': () => chooseSentences(chosen[0], chosen[1] + 1),
        Enter: () => markUnits(sentences[chosen[0]]?.[0] ?? 0, sentences[chosen[1]]?.[1] ?? 0),
        Escape: closeSentences,
      }
    : {}
  const turnTo = (index: number) => setPlace({ ...place, criterion: index, sentences: null })
  const rating: Keys = look
    ? {
        ...Object.fromEntries((criterion?.points ?? []).map(({ point }, index, points) => [keyOfPoint(points, index), () => choose(point)])),
        c: () => choose(data.cannot_judge),
        ArrowUp: () => turnTo(Math.max(place.criterion - 1, 0)),
        ArrowDown: () => turnTo(Math.min(place.criterion + 1, data.criteria.length - 1)),
        ArrowRight: () => (place.look + 1 < looks.length ? go(place.look + 1) : go(-1)),
        ArrowLeft: () => place.look > 0 && go(place.look - 1),
        Enter: goNext,
        s: skip,
        m: mark,
        n: () => note.current?.focus(),
        ...(data.count_shown === null ? {} : { p: () => open(look.id) }),
      }
    : { ArrowLeft: () => go(looks.length - 1) }
  useKeys({ u: undo, d: save, ...rating, ...choosing }, areKeysOn)

  return (
    <div class="desk">
      <header>
        <h1>
          {TEXTS.title} <small>{data.round}</small>
        </h1>
        <div class="progress">
          <progress aria-label={TEXTS.progress} max={looks.length} value={countDone} />
          <p>
            {TEXTS.done(countDone, looks.length)}
            {countSkipped > 0 && ` · ${TEXTS.skippedCount(countSkipped)}`}
            {countDone < looks.length && ` · ${TEXTS.timeLeft(secondsLeft(progress, looks.length - countDone))}`}
          </p>
        </div>
        <p class="who">{TEXTS.rater(name)}</p>
        <button type="button" onClick={undo}>
          {TEXTS.undo} <kbd>u</kbd>
        </button>
        <button type="button" onClick={save}>
          {TEXTS.save} <kbd>d</kbd>
        </button>
      </header>
      {!isKept && (
        <p class="warning" role="alert">
          {TEXTS.notKept}
        </p>
      )}
      <main>
        {look ? (
          <>
            <article>
              <h2 ref={heading} tabIndex={-1}>
                {TEXTS.heading(place.look + 1, looks.length)}
                {progress.skipped.includes(look.id) && <small>{TEXTS.skippedBefore}</small>}
              </h2>
              <section>
                <h3>{TEXTS.query}</h3>
                <div class="text query" dir="auto">
                  {showHidden(look.item.query) || TEXTS.noQuery}
                </div>
              </section>
              <section>
                <h3>{TEXTS.answer}</h3>
                <AnswerText text={shown} passage={passageShown()} isChoosing={chosen !== null} box={box} />
              </section>
              <section>
                <h3>{TEXTS.contexts(data.count_shown)}</h3>
                {look.item.contexts.length === 0 && <p class="hint">{TEXTS.noContexts}</p>}
                <Passages passages={isOpened ? [...look.item.contexts, ...look.item.further] : look.item.contexts} />
                {data.count_shown !== null && !isOpened && (
                  <button type="button" class="quiet" onClick={() => open(look.id)}>
                    {TEXTS.further} <kbd>p</kbd>
                  </button>
                )}
                {isOpened && look.item.further.length === 0 && <p class="hint">{TEXTS.noFurther}</p>}
              </section>
            </article>
            <aside aria-label={TEXTS.rating}>
              <h2>{TEXTS.rating}</h2>
              <ul class="criteria">
                {data.criteria.map((each, index) => (
                  <CriterionPanel
                    key={each.criterion}
                    data={data}
                    criterion={each}
                    answer={progress.answers[`${look.id}|${each.criterion}`]}
                    isOpen={index === place.criterion}
                    reason={reasonOf(each)}
                    note={note}
                    onOpen={() => turnTo(index)}
                    onPoint={choose}
                    onNote={write}
                    onMark={mark}
                    onUnmark={unmark}
                  />
                ))}
              </ul>
              <p class="message" role="status">
                {message}
              </p>
              <p class="row">
                <button type="button" disabled={place.look === 0} onClick={() => go(place.look - 1)}>
                  {TEXTS.previous} <kbd>←</kbd>
                </button>
                <button type="button" onClick={skip}>
                  {TEXTS.skip} <kbd>s</kbd>
                </button>
                <button type="button" class="primary" ref={next} onClick={goNext}>
                  {countDone === looks.length ? TEXTS.finish : TEXTS.next} <kbd>↵</kbd>
                </button>
              </p>
            </aside>
          </>
        ) : (
          <>
            <Finish
              data={data}
              looks={looks}
              progress={progress}
              countLeft={looks.length - countDone}
              file={file}
              onSave={save}
              onBack={() => go(countDone < looks.length ? findNext(progress, looks, data.criteria, -1) : looks.length - 1)}
            />
            <p class="message" role="status">
              {message}
            </p>
          </>
        )}
      </main>
      <footer>
        <label>
          <input type="checkbox" checked={areKeysOn} onChange={(event) => setKeysOn(event.currentTarget.checked)} />
          {TEXTS.keysOn}
        </label>
        <dl aria-label={TEXTS.keys}>
          {TEXTS.keyList.filter(([keys]) => keys !== 'p' || data.count_shown !== null).map(([keys, meaning]) => (
            <div key={keys}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </footer>
    </div>
  )

  function passageOf(each: Criterion | undefined): [number, number] | null {
    const given = look && each && progress.answers[`${look.id}|${each.criterion}`]
    if (!given || given.start === undefined || given.end === undefined) return null
    return [
      countUnits(shown, toShown(look.item.masks, given.start)),
      countUnits(shown, toShown(look.item.masks, given.end)),
    ]
  }

  function reasonOf(each: Criterion): string | null {
    const passage = passageOf(each)
    return passage && shown.slice(...passage)
  }

  function passageShown(): [number, number] | null {
    if (!chosen) return passageOf(criterion)
    return [sentences[chosen[0]]?.[0] ?? 0, sentences[chosen[1]]?.[1] ?? 0]
  }
}
