// One interaction: the answer sentence by sentence beside the chunks that it was made from, and all that was measured.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import {
  codeOfStatus, findRow, isFailing, isJudged, isVerdict, loadMetrics, loadRows, page, readChunks, readDetail, rows,
} from '../data'
import { formatCount, formatNumber, formatSigned } from '../format'
import { Loading, Marked, Name, Section, useReady } from '../parts'
import { change, go, link } from '../route'
import type { Route } from '../route'
import { useSelected } from '../selection'
import { texts } from '../texts'
import type { Chunk, Context, Detail, Sentence } from '../types'
import { closestSentence, compareWords, cut, markWords, slicer } from '../words'
import { Rate } from './rate'

const words = texts.interaction

interface Opened {
  row: number
  query: string
  answer: string
  detail: Detail | null
  chunks: Map<number, Chunk>
}

/** Returns an interaction with its chunks; null while it is read. */
export function useInteraction(id: string): Opened | 'unknown' | null {
  const [opened, setOpened] = useState<{ id: string; found: Opened | 'unknown' } | null>(null)
  const [problem, setProblem] = useState<unknown>(null)
  useEffect(() => {
    let isCurrent = true
    read(id).then(
      (found) => isCurrent && setOpened({ id, found }),
      (error: unknown) => isCurrent && setProblem(error),
    )
    return () => {
      isCurrent = false
    }
  }, [id])
  if (problem) throw problem
  return opened?.id === id ? opened.found : null
}

async function read(id: string): Promise<Opened | 'unknown'> {
  await loadRows()
  const row = findRow(id)
  if (row < 0) return 'unknown'
  const found = await readDetail(row)
  const chunks = await readChunks(found?.detail.contexts.map((context) => context.chunk) ?? [])
  return { row, query: found?.query ?? '', answer: found?.answer ?? '', detail: found?.detail ?? null, chunks }
}

export function Interaction({ route }: { route: Route }) {
  const { id, params } = route
  const opened = useInteraction(id)
  const selected = useSelected(params)
  const hasMetrics = useReady(() => loadMetrics(page.metrics.map((_, index) => index)), [])
  const given = Number(params.get('at') ?? -1)
  const place = useMemo(() => {
    if (!selected || !opened || opened === 'unknown') return -1
    // a link may come from another file: the place is believed only where the interaction is there
    return selected.chosen[given] === opened.row ? given : selected.chosen.indexOf(opened.row)
  }, [selected, opened, given])
  const step = (by: number) => {
    if (!selected || place < 0) return
    const next = place + by
    if (next < 0 || next >= selected.chosen.length) return
    go(link('interaction', rows.texts('id')[selected.chosen[next]!]!, change(params, { at: String(next) })))
  }
  const back = () => go(link('interactions', '', change(params, { at: String(Math.max(0, place)) })))
  // with the picture and not after it: a key that follows at once must find the new place
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return
      if (event.key === 'j' || event.key === 'ArrowRight') step(1)
      else if (event.key === 'k' || event.key === 'ArrowLeft') step(-1)
      else if (event.key === 'Escape') back()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  if (opened === 'unknown') {
    return (
      <main id="content" class="page">
        <h1>{words.unknown}</h1>
        <p>
          <a href={link('interactions')}>{words.back}</a>
        </p>
      </main>
    )
  }
  if (!opened || !hasMetrics) return <main id="content" class="page"><Loading /></main>
  return (
    <main id="content" class="interaction">
      <nav class="row steps" aria-label={texts.screens.interactions}>
        <button type="button" onClick={back}>
          ← {words.back}
        </button>
        <button type="button" onClick={() => step(-1)} disabled={place <= 0}>
          {words.previous}
        </button>
        <button type="button" onClick={() => step(1)} disabled={!selected || place < 0 || place >= selected.chosen.length - 1}>
          {words.next}
        </button>
        {selected && place >= 0 && (
          <span class="quiet">{words.place(formatCount(place + 1), formatCount(selected.chosen.length))}</span>
        )}
        <span class="spring" />
        <Copy opened={opened} />
        <button type="button" onClick={() => print()}>
          {words.print}
        </button>
      </nav>
      <Body key={id} opened={opened} params={params} />
    </main>
  )
}

function Copy({ opened }: { opened: Opened }) {
  const [said, setSaid] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(JSON.stringify(describe(opened), null, 2))
      setSaid(words.copied)
    } catch {
      setSaid(words.copyFailed)
    }
    setTimeout(() => setSaid(''), 2500)
  }
  return (
    <>
      <span role="status" class="quiet">
        {said}
      </span>
      <button type="button" onClick={() => void copy()}>
        {words.copy}
      </button>
    </>
  )
}

/** Returns an interaction as it is copied: names of the marts, and texts where the page has places. */
function describe({ row, query, answer, detail, chunks }: Opened) {
  const slice = slicer(answer)
  return {
    interaction_id: rows.texts('id')[row],
    segments: Object.fromEntries(
      page.dimensions.map(({ name, segments }, index) => [name, segments[rows.integers(`dimension_${index}`)[row]!] ?? null]),
    ),
    query,
    answer,
    ...detail,
    contexts: detail?.contexts.map(({ chunk, ...context }) => ({ ...context, ...chunks.get(chunk) })),
    sentences: detail?.sentences.map(({ place, text, ...sentence }) => ({
      text: place ? slice(...place) : text,
      ...sentence,
    })),
    metrics: Object.fromEntries(
      page.metrics.map((metric, index) => {
        const word = rows.integers(`status_${index}`)[row]!
        const score = rows.numbers(`score_${index}`)[row]!
        return [
          metric.name,
          {
            score: Number.isFinite(score) ? Number(score.toPrecision(4)) : null,
            status: codeOfStatus(word),
            threshold: metric.threshold,
            is_failing: isJudged(word) ? isFailing(word) : null,
          },
        ]
      }),
    ),
  }
}

const stateOf = (sentence: Sentence): 'contradicted' | 'unsupported' | 'nothing' | 'supported' =>
  sentence.is_contradicted
    ? 'contradicted'
    : sentence.is_unsupported
      ? 'unsupported'
      : sentence.claims_nothing
        ? 'nothing'
        : 'supported'

/** The sentence that decides: the least grounded one if something is wrong with it, else one with a fault. */
export function decidingOf(sentences: Sentence[]): number {
  const isWrong = (sentence: Sentence) => sentence.is_contradicted || sentence.is_unsupported
  const tests = [
    (each: Sentence) => each.is_least_grounded && isWrong(each),
    (each: Sentence) => each.is_contradicted,
    isWrong,
    (each: Sentence) => each.is_least_grounded,
  ]
  return Math.max(0, tests.map((test) => sentences.findIndex(test)).find((index) => index >= 0) ?? 0)
}

/** The verdict with its reason in plain words, and what is wrong with the sentence that decides. */
function VerdictOf({ row, answer, detail }: { row: number; answer: string; detail: Detail | null }) {
  const verdict = page.verdicts[rows.integers('verdict')[row]!]!
  const sentence = detail?.sentences[decidingOf(detail.sentences)]
  const criterion = page.facets.findIndex(({ name }) => name === 'failed_criterion')
  const failed = page.facets[criterion]?.segments[rows.integers(`facet_${criterion}`)[row]!] ?? 'grounded'
  // an answer that fails by another criterion than its grounds is not decided by a sentence
  const isGrounds = failed === 'grounded' && verdict !== 'acceptable'
  const isWrong = sentence && isGrounds && stateOf(sentence) !== 'supported' && !sentence.claims_nothing
  return (
    <div class={`banner ${{ failing: 'failed', acceptable: 'passed', undecided: 'warned' }[verdict] ?? 'not_evaluated'}`}>
      <p>
        <b>{{ failing: '✕ ', acceptable: '✓ ' }[verdict]}{words.verdicts[verdict] ?? verdict}.</b> {detail?.verdict_reason}
      </p>
      {isWrong && (
        <p dir="auto">
          {words.deciding}: “{sentence.place ? slicer(answer)(...sentence.place) : sentence.text}” <Faults sentence={sentence} />
        </p>
      )}
    </div>
  )
}

/** What the evidence lacks or says otherwise, each in a sentence. */
function Faults({ sentence }: { sentence: Sentence }) {
  const said = [
    ...sentence.displaced.map((each) => {
      const [here, there] = each.split(' instead of ')
      return there === undefined ? words.displaced(here!) : words.instead(here!, there)
    }),
    ...(sentence.contradicted.length ? [words.differs(sentence.contradicted.join(', '))] : []),
    ...(sentence.unsupported.length ? [words.notFound(sentence.unsupported.join(', '))] : []),
    ...(sentence.computed.length ? [words.computed(sentence.computed.join(', '))] : []),
    ...(sentence.fault_kind ? [words.faultKind(sentence.fault_kind.replace('_', ' '))] : []),
  ]
  return <b>{said.join(' ')}</b>
}

function Body({ opened, params }: { opened: Opened; params: URLSearchParams }) {
  const { row, query, answer, detail } = opened
  const [active, setActive] = useState(() => decidingOf(detail?.sentences ?? []))
  const version = rows.integers('version')[row]!
  return (
    <>
      <header>
        <h1 dir="auto">{query || rows.texts('id')[row]}</h1>
        <p class="facts">
          {page.dimensions.map(({ name, segments }, index) => {
            const segment = segments[rows.integers(`dimension_${index}`)[row]!]
            return (
              segment !== undefined && (
                <span class="tag" key={name}>
                  {name.replaceAll('_', ' ')}: <b>{segment}</b>
                </span>
              )
            )
          })}
          {page.outcomes[rows.integers('outcome')[row]!] !== 'answered' && (
            <span class="tag strong">{page.outcomes[rows.integers('outcome')[row]!]}</span>
          )}
          {detail?.asked_at && <span class="tag">{detail.asked_at} UTC</span>}
          {detail?.expected_behaviour && <span class="tag">{words.expected(detail.expected_behaviour)}</span>}
          <span class="tag">{rows.texts('id')[row]}</span>
        </p>
        <VerdictOf row={row} answer={answer} detail={detail} />
      </header>
      {!detail && <p class="notice">{texts.interactions.noText}</p>}
      <div class="reading">
        <div class="left">
          {detail && detail.earlier_turns.length > 0 && (
            <Section title={words.earlier}>
              {detail.earlier_turns.map((turn) => (
                <div class="turn" key={turn.turn}>
                  <p dir="auto">
                    <b>{words.turn(turn.turn)}</b> {turn.query}
                  </p>
                  <p class="quiet" dir="auto">
                    {turn.answer}
                  </p>
                </div>
              ))}
            </Section>
          )}
          {detail && (
            <Section title={version >= 0 ? `${words.answer} (${page.versions[version]})` : words.answer}>
              <Answer answer={answer} sentences={detail.sentences} active={active} onActive={setActive} />
              <Legend />
            </Section>
          )}
          <Rate id={rows.texts('id')[row]!} row={row} />
          <Others opened={opened} params={params} />
          {detail && detail.sentences[active] && <Signals sentence={detail.sentences[active]} />}
          {detail?.reference_answer && (
            <Section title={words.reference}>
              <p class="text" dir="auto">
                {detail.reference_answer}
              </p>
            </Section>
          )}
        </div>
        {detail && (
          <Contexts contexts={detail.contexts} chunks={opened.chunks} answer={answer} sentence={detail.sentences[active]} active={active} />
        )}
      </div>
      <div class="reading measured">
        <Section title={words.metrics}>
          <Metrics row={row} detail={detail} />
        </Section>
        {detail && <Judgements detail={detail} />}
      </div>
    </>
  )
}

function Answer(props: { answer: string; sentences: Sentence[]; active: number; onActive: (index: number) => void }) {
  const { answer, sentences, active, onActive } = props
  const parts = useMemo(
    () =>
      cut(
        answer,
        sentences.flatMap((sentence, mark) => (sentence.place ? [{ start: sentence.place[0], end: sentence.place[1], mark }] : [])),
      ),
    [answer, sentences],
  )
  // what stands in the answer in another form, for instance under another mask, is listed after it
  const apart = sentences.flatMap((sentence, index) => (sentence.place ? [] : [index]))
  return (
    <>
      <p class="text answer" dir="auto">
        {parts.map((part, index) =>
          part.marks.length ? (
            <SentencePart key={index} text={part.text} index={part.marks[0]!} {...props} />
          ) : (
            <span key={index}>{part.text}</span>
          ),
        )}
        {!answer && <i>{texts.interactions.emptyAnswer}</i>}
      </p>
      {apart.length > 0 && (
        <p class="text answer" dir="auto">
          {apart.map((index) => (
            <SentencePart key={index} text={`${sentences[index]!.text} `} index={index} sentences={sentences} active={active} onActive={onActive} />
          ))}
        </p>
      )}
      {answer && !sentences.length && <p class="quiet">{words.noSentences}</p>}
    </>
  )
}

function SentencePart(props: {
  text: string
  index: number
  sentences: Sentence[]
  active: number
  onActive: (index: number) => void
}) {
  const sentence = props.sentences[props.index]!
  const state = stateOf(sentence)
  const isActive = props.index === props.active
  // one sentence decides: the others are marked when they are selected
  const isMarked = isActive || props.index === decidingOf(props.sentences)
  const show = () => props.onActive(props.index)
  return (
    <span
      class={`sentence ${isMarked ? state : ''} ${isActive ? 'active' : ''}`}
      role="button"
      tabIndex={0}
      aria-pressed={isActive}
      aria-label={`${words.sentence[state]}: ${props.text}`}
      onFocus={show}
      onMouseEnter={show}
      onClick={show}
    >
      {isMarked && state !== 'supported' && state !== 'nothing' && (
        <span class="sign" aria-hidden="true">
          {state === 'contradicted' ? '✕' : '?'}
        </span>
      )}
      <Marked
        parts={markWords(props.text, isMarked ? [sentence.unsupported, sentence.contradicted, sentence.displaced] : [])}
        classes={['missing', 'differing', 'displaced']}
      />
    </span>
  )
}

function Legend() {
  return (
    <p class="legend" aria-hidden="true">
      <span class="sentence supported">{words.legend.supported}</span>
      <span class="sentence unsupported">
        <span class="sign">?</span>
        {words.legend.unsupported}
      </span>
      <span class="sentence contradicted">
        <span class="sign">✕</span>
        {words.legend.contradicted}
      </span>
      <span class="sentence nothing">{words.legend.nothing}</span>
      <span>
        <mark class="missing">{words.legend.words}</mark>
      </span>
    </p>
  )
}

function Contexts(props: {
  contexts: Context[]
  chunks: Map<number, Chunk>
  answer: string
  sentence: Sentence | undefined
  active: number
}) {
  const { contexts, chunks, answer, sentence, active } = props
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // within its box alone: the page itself must not move under the reader
    const element = box.current
    // a window of evidence may touch several chunks: the one that the build names is shown
    const mark = element?.querySelector(`[data-rank="${sentence?.evidence_rank}"] mark`) ?? element?.querySelector('mark')
    if (element && mark) {
      const place = mark.getBoundingClientRect().top - element.getBoundingClientRect().top
      if (place < 0 || place > element.clientHeight - 40) element.scrollTop += place - element.clientHeight / 3
    }
  }, [active, contexts])
  // the build compares with a window of several sentences: the one that says most of the same is marked
  const deciding = useMemo(() => {
    const textOf = (rank: number) => chunks.get(contexts.find((context) => context.rank === rank)?.chunk ?? -1)?.text ?? ''
    const said = sentence?.place ? slicer(answer)(...sentence.place) : (sentence?.text ?? '')
    return closestSentence(said, sentence?.evidence?.places ?? [], textOf, sentence?.evidence_rank ?? 0)
  }, [sentence, contexts])
  const mark = sentence?.is_contradicted ? 1 : 0
  const places = (rank: number | null) =>
    deciding && deciding[0] === rank ? [{ start: deciding[1], end: deciding[2], mark }] : []
  const elsewhere = sentence?.evidence?.text
  return (
    <section class="contexts">
      <h2>{words.contexts}</h2>
      <div class="scroll" ref={box} tabIndex={0} role="region" aria-label={words.contexts}>
        {!contexts.length && <p class="quiet">{words.noContexts}</p>}
        {contexts.map((context) => {
          const chunk = chunks.get(context.chunk)!
          return (
            <article
              key={`${context.rank}|${context.chunk}`}
              data-rank={context.rank}
              class={`chunk ${context.is_source ? 'source' : ''} ${context.rank === null ? 'missed' : ''}`}
            >
              <h3>
                <span class={context.rank === null ? 'bad' : 'rank'}>
                  {context.rank === null ? `✕ ${words.missed}` : words.rank(context.rank)}
                </span> {chunk.document || chunk.id}
              </h3>
              <p class="facts">
                <span class="tag">{chunk.id}</span>
                {context.score !== null && <span class="tag">{words.score(formatNumber(context.score))}</span>}
                {context.is_source && <span class="tag strong">★ {words.source}</span>}
                {context.grade !== null && context.grade > 0 && <span class="tag">{words.grade(formatNumber(context.grade))}</span>}
              </p>
              <p class="text" dir="auto">
                <Marked parts={cut(chunk.text, places(context.rank))} classes={['evidence', 'opposite']} />
              </p>
            </article>
          )
        })}
        {elsewhere !== undefined && (
          <article class="chunk">
            <h3>{words.elsewhere}</h3>
            <p class="text" dir="auto">
              <mark class="evidence">{elsewhere}</mark>
            </p>
          </article>
        )}
      </div>
    </section>
  )
}

function Signals({ sentence }: { sentence: Sentence }) {
  const signals = sentence.signals
    .split(', ')
    .map((each) => each.split(' '))
    .flatMap(([name, value]) => (name && value ? [{ name, value: Number(value) }] : []))
    .filter((each) => Math.abs(each.value) >= 0.005)
  const largest = Math.max(...signals.map((each) => Math.abs(each.value)), 0.1)
  return (
    <Section title={words.signals} class="signals">
      <p class="facts">
        <span class={`tag state ${stateOf(sentence)}`}>{words.legend[stateOf(sentence)]}</span>
        {(['support', 'entailment', 'contradiction', 'similarity'] as const).map(
          (name) =>
            sentence[name] !== null && (
              <span class="tag" key={name}>
                {words[name]} <b>{formatNumber(sentence[name])}</b>
              </span>
            ),
        )}
      </p>
      <p dir="auto">
        <Faults sentence={sentence} />
      </p>
      {signals.length > 0 && (
        <>
          <table class="bars">
            <tbody>
              {signals.map((each) => (
                <tr key={each.name}>
                  <th scope="row">{each.name.replaceAll('_', ' ')}</th>
                  <td class="number">{formatSigned(each.value)}</td>
                  <td>
                    <svg viewBox="0 0 200 12" width="200" height="12" aria-hidden="true">
                      <line class="axis" x1={100} y1={0} x2={100} y2={12} />
                      <rect
                        class={each.value < 0 ? 'against' : 'for'}
                        x={each.value < 0 ? 100 + (each.value / largest) * 98 : 100}
                        y={2}
                        width={Math.max(1, (Math.abs(each.value) / largest) * 98)}
                        height={8}
                      />
                    </svg>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="quiet">{words.signalsNote}</p>
        </>
      )}
    </Section>
  )
}

function Metrics({ row, detail }: { row: number; detail: Detail | null }) {
  const known = page.metrics.map((_, index) => index).filter((index) => !isVerdict(index) && rows.integers(`status_${index}`)[row]! >= 0)
  const first = known.filter((index) => page.metrics[index]!.isPrimary || page.metrics[index]!.threshold !== null)
  const failing = (index: number) => (isFailing(rows.integers(`status_${index}`)[row]!) ? 0 : 1)
  first.sort((a, b) => failing(a) - failing(b) || a - b)
  const others = known.filter((index) => !first.includes(index))
  return (
    <>
      <MetricTable row={row} detail={detail} metrics={first} />
      {others.length > 0 && (
        <details>
          <summary>
            {words.otherMetrics} ({others.length})
          </summary>
          <MetricTable row={row} detail={detail} metrics={others} />
        </details>
      )}
    </>
  )
}

function MetricTable({ row, detail, metrics }: { row: number; detail: Detail | null; metrics: number[] }) {
  return (
    <table class="table">
      <thead>
        <tr>
          {words.metricColumns.map((column, index) => (
            <th key={column} scope="col" class={[1, 2, 4].includes(index) ? 'number' : ''}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {metrics.map((index) => {
          const metric = page.metrics[index]!
          const word = rows.integers(`status_${index}`)[row]!
          const status = codeOfStatus(word)
          const label = detail?.labels[metric.name]
          const isCalibrated = rows.has(`probability_${index}`)
          return (
            <tr key={index} class={isFailing(word) ? 'failing' : isJudged(word) ? '' : 'unjudged'} title={detail?.details[metric.name] ?? metric.description}>
              <th scope="row">
                <Name>{metric.name}</Name>
              </th>
              <td class="number">
                {status === 'scored' || status === 'truncated'
                  ? formatNumber(rows.numbers(`score_${index}`)[row]!)
                  : status.replaceAll('_', ' ')}
              </td>
              <td class="number" title={metric.isProvisional ? words.provisional : undefined}>
                {metric.threshold === null ? '' : `${metric.isHigherBetter ? '≥' : '≤'} ${formatNumber(metric.threshold)}`}
              </td>
              <td class="verb">{isJudged(word) ? isFailing(word) ? <b class="bad">✕ {words.fails}</b> : `✓ ${words.passes}` : ''}</td>
              <td class="number">{isCalibrated ? formatNumber(rows.numbers(`probability_${index}`)[row]!) : ''}</td>
              <td class="verb">{isCalibrated ? words.sets[rows.integers(`set_${index}`)[row]!] : ''}</td>
              <td class="verb">{label ? words.labels(label[0], words.raterKinds[label[1] ?? 'unknown'] ?? label[1] ?? '') : ''}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function Judgements({ detail }: { detail: Detail }) {
  const byCriterion = new Map<string, Detail['ratings']>()
  for (const rating of detail.ratings) byCriterion.set(rating.criterion, [...(byCriterion.get(rating.criterion) ?? []), rating])
  return (
    <div>
      <Section title={words.causes}>
        {detail.causes.length ? (
          <ul class="plain">
            {detail.causes.map(([metric, fault, reason]) => (
              <li key={metric}>
                {metric}: <b>{words.causeWords[fault] ?? fault}</b> <span class="quiet">({reason.replaceAll('_', ' ')})</span>
              </li>
            ))}
          </ul>
        ) : (
          <p class="quiet">{words.noCauses}</p>
        )}
      </Section>
      <Section title={words.ratings}>
        {byCriterion.size ? (
          <ul class="plain">
            {[...byCriterion].map(([criterion, ratings]) => (
              <li key={criterion}>
                {criterion}:{' '}
                {ratings
                  .map((rating) => {
                    const scales = Object.hasOwn(page.scales, criterion) ? page.scales[criterion] : []
                    const scale = scales?.find((each) => each.point === rating.scale_point)
                    const kind = words.raterKinds[rating.rater_kind] ?? rating.rater_kind
                    return `${rating.scale_point ?? '–'}${scale ? ` ${scale.label}` : ''} (${words.rater(kind, rating.rater, rating.reading, rating.is_chosen)})`
                  })
                  .join('; ')}
              </li>
            ))}
          </ul>
        ) : (
          <p class="quiet">{words.noRatings}</p>
        )}
      </Section>
      {(detail.flags.length > 0 || detail.personal_data.length > 0) && (
        <Section title={words.flags}>
          <ul class="plain">
            {detail.flags.map((flag, index) => (
              <li key={index}>
                <b>{flag.flag.replaceAll('_', ' ')}</b> {flag.subject} <span class="quiet">{flag.evidence}</span>
              </li>
            ))}
            {detail.personal_data.map((value, index) => (
              <li key={`p${index}`}>
                {value.type}: {value.masked} <span class="quiet">({value.exposure.replaceAll('_', ' ')})</span>{' '}
                {value.is_leak && <b class="bad">✕ {words.leak}</b>}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </div>
  )
}

/** The answers of other versions to the same query, each beside this one with the words marked that only one has. */
function Others({ opened, params }: { opened: Opened; params: URLSearchParams }) {
  const { row, answer } = opened
  const others = useMemo(() => {
    const [queries, versions, applications] = [rows.integers('query'), rows.integers('version'), rows.integers('application')]
    const seen = new Map<number, number>()
    for (let other = 0; other < queries.length; other++) {
      if (queries[other] !== queries[row] || applications[other] !== applications[row] || versions[other] === versions[row]) continue
      if (versions[other]! >= 0 && !seen.has(versions[other]!)) seen.set(versions[other]!, other)
    }
    return [...seen.values()].sort((a, b) => versions[a]! - versions[b]!).map((other) => rows.texts('id')[other]!)
  }, [row])
  if (!opened.detail || !others.length) return null
  return (
    <Section title={words.others}>
      {others.map((id) => (
        <Other key={id} id={id} answer={answer} row={row} params={params} />
      ))}
    </Section>
  )
}

function Other({ id, answer, row, params }: { id: string; answer: string; row: number; params: URLSearchParams }) {
  const other = useInteraction(id)
  if (!other) return <Loading />
  if (other === 'unknown' || !other.detail) return <p class="quiet">{texts.interactions.noText}</p>
  const [here, there] = compareWords(answer, other.answer)
  return (
    <div class="pair">
      <article>
        <h3>
          {page.versions[rows.integers('version')[row]!]} <Score row={row} />
        </h3>
        <p class="text" dir="auto">
          <Marked parts={here} classes={['only']} />
        </p>
      </article>
      <article>
        <h3>
          <a href={link('interaction', id, change(params, { at: '' }))}>{page.versions[rows.integers('version')[other.row]!]}</a>{' '}
          <Score row={other.row} />
        </h3>
        <p class="text" dir="auto">
          <Marked parts={there} classes={['only']} />
          {!other.answer && <i>{texts.interactions.emptyAnswer}</i>}
        </p>
      </article>
    </div>
  )
}

export function Score({ row, metric = page.mainMetric }: { row: number; metric?: number }) {
  const word = rows.integers(`status_${metric}`)[row]!
  const isBad = isFailing(word)
  const status = codeOfStatus(word)
  const isScored = status === 'scored' || status === 'truncated'
  return (
    <span class={isBad ? 'score bad' : 'score'}>
      {isBad && <span aria-hidden="true">✕ </span>}
      {isVerdict(metric)
        ? page.verdicts[rows.integers('verdict')[row]!]
        : `${page.metrics[metric]!.name} ${isScored ? formatNumber(rows.numbers(`score_${metric}`)[row]!) : status.replaceAll('_', ' ')}`}
    </span>
  )
}
