import type { DeskData, Look } from './data'
import type { Progress } from './progress'
import { capitalise, TEXTS } from './texts'

// The last screen: what was rated, and what happens to the sheet.
export function Finish({
  data,
  looks,
  progress,
  countLeft,
  file,
  onSave,
  onBack,
}: {
  data: DeskData
  looks: Look[]
  progress: Progress
  countLeft: number
  file: string
  onSave: () => void
  onBack: () => void
}) {
  return (
    <section class="finish">
      <h2 tabIndex={-1}>{countLeft ? TEXTS.unfinished(countLeft) : TEXTS.finished}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">{TEXTS.criterion}</th>
            <th scope="col">{TEXTS.rated}</th>
            <th scope="col">{TEXTS.couldNotJudge}</th>
            <th scope="col">{TEXTS.notRated}</th>
          </tr>
        </thead>
        <tbody>
          {data.criteria.map(({ criterion }) => {
            const points = looks.map((look) => progress.answers[`${look.id}|${criterion}`]?.point)
            const unjudged = points.filter((point) => point === data.cannot_judge).length
            const missing = points.filter((point) => point === undefined).length
            return (
              <tr key={criterion}>
                <th scope="row">{capitalise(criterion)}</th>
                <td>{points.length - unjudged - missing}</td>
                <td>{unjudged}</td>
                <td>{missing}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
      <p>{TEXTS.finishedNext}</p>
      <pre>{TEXTS.command(file)}</pre>
      <p class="row">
        <button type="button" class="primary" onClick={onSave}>
          {TEXTS.save} <kbd>d</kbd>
        </button>
        <button type="button" onClick={onBack}>
          {countLeft ? TEXTS.goOn : TEXTS.backToLast}
        </button>
      </p>
    </section>
  )
}
