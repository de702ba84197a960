// Every English text of the desk.

export const TEXTS = {
  title: 'Rating desk',
  intro:
    'You read one answer at a time and rate it by the guideline beside it. You see neither the system nor any score. Rate what you read, without looking anything up elsewhere.',
  order:
    'The mouse is not needed; the keys stand at the bottom of the page. Mark the reason and write a note first: the digit of a rating moves on to the next criterion.',
  masked: (mask: string) =>
    `Private data is hidden by masks such as ${mask}. A mask is no fault of the answer. If it hides what you need, answer that you cannot judge.`,
  extent: (count: number | null, criteria: string[]) =>
    `${count === null ? 'Your answers' : countAnswers(count)} are to be rated by: ${criteria.join(', ')}.`,
  kept: 'Your ratings stay in this browser: you can stop and go on later. Nothing is sent anywhere. At the end you save a sheet.',
  notKept:
    'This browser keeps nothing for this page. Your answers are lost when the tab closes: save the sheet before that.',
  yourName: 'Your name',
  whoAreYou: 'Who are you?',
  youRead: (count: number, second: number, done: number) =>
    second > 0
      ? `${countAnswers(count)}, ${second} of them twice; ${done} of ${count + second} rated in this browser`
      : `${countAnswers(count)}, ${done} rated in this browser`,
  begin: 'Begin',
  rater: (name: string) => `Rater: ${name}`,

  done: (done: number, all: number) => `${done} of ${all} rated`,
  skippedCount: (count: number) => `${count} skipped`,
  timeLeft: (seconds: number | null) =>
    seconds === null
      ? 'time left: known after three answers'
      : seconds < 90
        ? 'about 1 minute left (estimate)'
        : seconds < 5400
          ? `about ${Math.round(seconds / 60)} minutes left (estimate)`
          : `about ${(seconds / 3600).toFixed(1)} hours left (estimate)`,
  progress: 'Answers rated',
  save: 'Save sheet',
  undo: 'Undo',
  previous: 'Previous',
  next: 'Next',
  skip: 'Skip for now',
  finish: 'Finish',

  heading: (place: number, all: number) => `Answer ${place} of ${all}`,
  skippedBefore: 'skipped before',
  query: 'Query',
  answer: 'Answer',
  contexts: (limit: number | null) =>
    limit === null ? 'Context, as it was retrieved' : `Context, as it was retrieved: the best passages, at most ${limit}`,
  further: 'Look for further passages',
  noFurther: 'No further passage was retrieved.',
  context: (number: number) => `Passage ${number}`,
  noContexts: 'Nothing was retrieved for this answer.',
  noQuery: 'The query was not logged.',
  rating: 'Your rating',
  notYet: 'not rated yet',
  cannotJudge: 'Cannot judge',
  cannotJudgeText: 'The texts do not allow a decision',
  note: 'Note',
  noteHint: 'Why? A few words help those who read the ratings. Escape leaves the note.',
  mark: 'Mark the reason',
  unmark: 'Remove the mark',
  marked: (text: string) => `Reason: “${text.length > 90 ? text.slice(0, 90) + '…' : text}”`,
  markHint: 'selected words, or by sentence',
  marking: (place: number, all: number) =>
    `Sentence ${place} of ${all}. ← → move, Shift + → takes in more, Enter marks, Escape leaves.`,

  saidPoint: (criterion: string, label: string) => `${criterion}: ${label}`,
  saidLeft: (names: string) => `Still to rate here: ${names}`,
  saidUndone: 'Undone',
  saidNothingToUndo: 'Nothing to undo',
  saidSaved: (count: number, name: string) => `${count} ratings saved as ${name}`,
  saidNothingToSave: 'Nothing to save yet',
  saidMarked: 'Reason marked',
  saidUnmarked: 'Mark removed',
  saidNoSentence: 'The answer has no sentence to mark',

  finished: 'All answers are rated',
  unfinished: (count: number) => `${count} ${count === 1 ? 'answer is' : 'answers are'} not fully rated`,
  finishedNext: 'Save the sheet and send it to whoever asked you to rate. They import it with:',
  command: (name: string) => `hcat labels import ${name} --rater-kind person`,
  criterion: 'Criterion',
  rated: 'Rated',
  couldNotJudge: 'Could not judge',
  notRated: 'Not rated',
  backToLast: 'Back to the answers',
  goOn: 'Go on rating',

  keys: 'Keys',
  keysOn: 'Single-key shortcuts',
  keyList: [
    ['0–9', 'scale point'],
    ['c', 'cannot judge'],
    ['↑ ↓', 'criterion'],
    ['Enter, →', 'next'],
    ['←', 'previous'],
    ['s', 'skip'],
    ['u', 'undo'],
    ['m', 'mark the reason'],
    ['n', 'note'],
    ['p', 'further passages'],
    ['d', 'save the sheet'],
  ] as [string, string][],
}

function countAnswers(count: number): string {
  return `${count} ${count === 1 ? 'answer' : 'answers'}`
}

export function capitalise(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')
}
