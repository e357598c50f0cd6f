import type { Generation } from '../../domain/generation/request.ts'
import type { Model, ModelRoute } from '../models/model.ts'
import { mayLeave } from './retry.ts'

/**
 * Returns the routes whose context window may be large enough for the prompt. A route whose window is certainly too small
 * is skipped if its `on` includes `context_length` and another route may be large enough. Otherwise it is called, because
 * the provider's own error is clearer.
 */
export function routesForPrompt(
  { routes, contextWindow }: Pick<Model, 'routes' | 'contextWindow'>,
  generation: Generation,
): readonly ModelRoute[] {
  if (!routes.some((route) => mayLeave(route, 'context_length'))) return routes
  const windowOf = (route: ModelRoute) => route.contextWindow ?? contextWindow ?? Number.POSITIVE_INFINITY
  const tokens = minPromptTokens(generation, Math.min(...routes.map(windowOf)))
  if (!routes.some((route) => windowOf(route) >= tokens)) return routes
  return routes.filter((route) => windowOf(route) >= tokens || !mayLeave(route, 'context_length'))
}

/** Whether a prompt that is too long for the one route may fit into the context window of the other. */
export function mayBeLarger(other: ModelRoute, { contextWindow }: ModelRoute): boolean {
  return (
    other.contextWindow === undefined || contextWindow === undefined || other.contextWindow > contextWindow
  )
}

/**
 * Returns tokens that the longest prompt of the request has in any case: its token ids, or one for each word. Short text
 * is not counted: 0 if it surely has at most `enough`.
 */
function minPromptTokens({ messages, inputs = [] }: Generation, enough: number): number {
  const texts: string[] = []
  for (const { parts } of messages) for (const part of parts) if (part.type === 'text') texts.push(part.text)
  // Each word takes a character and a space.
  const characters = texts.reduce((sum, { length }) => sum + length + 1, 0)
  const ofMessages = characters / 2 <= enough ? 0 : texts.reduce((sum, text) => sum + countWords(text), 0)
  const ofInputs = inputs.map((input) => (typeof input === 'string' ? countWords(input) : input.length))
  return ofInputs.reduce((max, tokens) => Math.max(max, tokens), ofMessages)
}

/** Counts words with a letter or a digit: no tokenizer joins two of them, while it may join spaces and punctuation. */
export function countWords(text: string): number {
  let words = 0
  let counted = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code <= 0x20) counted = false
    else if (!counted && isWordCharacter(code)) {
      counted = true
      words += 1
    }
  }
  return words
}

/** The letters of alphabets that have spaces between words, and the characters of those that have none. */
function isWordCharacter(code: number): boolean {
  if (code < 0x80) return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)
  return (code >= 0xc0 && code < 0x1680) || (code >= 0x2e80 && code < 0xd800)
}
