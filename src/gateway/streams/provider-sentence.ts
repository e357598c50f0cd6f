import type { Generation } from '../../domain/generation/request.ts'
import { isKnownWord } from './known-words.ts'
import { RequestTexts } from './request-texts.ts'

/** Characters. */
const maxSentence = 300

/** Words in a row. Fewer of them after an omission are likely to be the rest of a quotation. */
const minRun = 4

/**
 * Returns what a provider said of a failure, in one line for the operator; undefined where too little of it may be kept. It
 * keeps the words in which providers speak of requests, names that consist of such words, the name of the model and numbers,
 * but not a run of them, or a long number, that the request has too. So it says nothing of the prompt or of the answer,
 * however the provider quotes them. `message` contains no keys any more.
 */
export function providerSentence(message: string, model: string, request: Generation): string | undefined {
  const text = readableText(message)
  const words = (text.match(/\S+/g) ?? []).map((word) => toWord(word, model))
  omitShared(words, new RequestTexts(request))
  const kept = words.filter(({ isKept }) => isKept).length
  if (kept < Math.min(words.length, minKept)) return undefined
  return joined(words)
}

/** Words. Less of a sentence does not explain anything. */
const minKept = 3

type Word = {
  readonly text: string
  readonly parts: readonly string[]
  isKept: boolean
}

/** The beginning, of a page its text, with shorter fractions, and without addresses and numbers as long as telephone numbers. */
function readableText(message: string): string {
  const text = message.trimStart().startsWith('<') ? message.replace(/<[^<>]*>/g, ' ') : message
  const beginning = text.length <= maxSentence ? text : text.slice(0, maxSentence).replace(/\S*$/, '…')
  return beginning.replace(/(\d\.\d{3})\d+/g, '$1').replace(addressOrNumber, '…')
}

const addressOrNumber = /\b[a-z]+:\/\/\S*|\b\d+(?:\.\d+){3}(?::\d+)?|\d(?:[\s().,/-]{0,2}\d){7,}/gi

function toWord(text: string, model: string): Word {
  const name = text.replace(/^\W+|\W+$/g, '')
  const parts = name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? []
  if (name === model) return { text, parts: [], isKept: true }
  const isKnown = parts.length === 0 ? operator.test(text) : parts.every(isKnownPart)
  return { text, parts, isKept: isKnown && printable.test(text) && parts.length <= maxParts }
}

const printable = /^[!-~‘’“”]+$/
const operator = /^[<>=&+*|-]{1,2}$/

/** The longest names of parameters and metrics have as many parts. */
const maxParts = 8

/** All parts of `max_tokens`, `toolChoice` or `messages[0].content` are known. */
function isKnownPart(part: string): boolean {
  return isNumber(part) || isKnownWord(part)
}

function isNumber(part: string): boolean {
  return /^\d/.test(part)
}

/** Omits what the request has too, and short runs of words between omissions. */
function omitShared(words: readonly Word[], texts: RequestTexts): void {
  for (const word of words) if (word.isKept && hasSharedNumber(word, texts)) word.isKept = false
  omitShortRuns(words)
  for (const run of keptRuns(words)) omit(sharedWords(run, texts))
  omitShortRuns(words)
}

/** Searches for `1950`, `1,950` or the parts of `19-50`. */
function hasSharedNumber({ parts }: Word, texts: RequestTexts): boolean {
  const numbers = parts.filter(isNumber)
  const isLong = (digits: string) => digits.length >= minDigits
  return (
    numbers.some((part) => isLong(part) && texts.have([part])) ||
    (numbers.length > 1 && isLong(numbers.join('')) && texts.have(numbers))
  )
}

/** Shorter numbers are in nearly every text. */
const minDigits = 4

/** The words of the run in which the request has several parts in the same order. */
function sharedWords(run: readonly Word[], texts: RequestTexts): readonly Word[] {
  const parts = run.flatMap((word) => word.parts.map((part) => ({ part, word })))
  const last = parts.length - minRun
  const partsAt = (index: number) => parts.slice(index, index + minRun)
  const isShared = (index: number) =>
    index >= 0 && index <= last && texts.have(partsAt(index).map(({ part }) => part))
  // Each search takes time: every second one finds all runs of five parts, except for their ends.
  const found = [...parts.keys()].filter((index) => (index % 2 === 0 || index === last) && isShared(index))
  const ends = found.flatMap((index) => [index - 1, index + 1].filter(isShared))
  return [...found, ...ends].flatMap((index) => partsAt(index).map(({ word }) => word))
}

function omitShortRuns(words: readonly Word[]): void {
  for (const run of keptRuns(words)) if (run.length < minRun && run[0] !== words[0]) omit(run)
}

function omit(run: readonly Word[]): void {
  for (const word of run) word.isKept = false
}

function keptRuns(words: readonly Word[]): readonly Word[][] {
  const runs: Word[][] = [[]]
  for (const word of words) {
    if (word.isKept) runs.at(-1)?.push(word)
    else runs.push([])
  }
  return runs.filter(({ length }) => length > 0)
}

function joined(words: readonly Word[]): string {
  const texts = words.map(({ isKept, text }) => (isKept ? text : '…'))
  return texts.filter((text, index) => text !== '…' || texts[index - 1] !== '…').join(' ')
}
