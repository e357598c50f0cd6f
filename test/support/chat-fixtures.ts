import { type End, events, finish, json, type Piece, type Script } from './script.ts'

/** The output of a chat completions provider, from which both its complete reply and its stream are rendered. */
export type ChatOutput = {
  readonly choices: readonly ChatOutputChoice[]
  readonly usage?: object
  readonly tier?: string
}

export type ChatOutputChoice = {
  /** One string for each delta of the stream. */
  readonly text?: readonly string[]
  readonly reasoning?: readonly string[]
  readonly calls?: readonly ChatOutputCall[]
  readonly finish: string
}

/** A tool call; `arguments` has one string for each fragment. */
export type ChatOutputCall = {
  readonly id: string
  readonly name: string
  readonly arguments: readonly string[]
}

export const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }

/** The default output: one choice with the text `It is four metres.`, with these changes. */
export function chatOutput(
  choice: Partial<ChatOutputChoice> = {},
  rest: Partial<ChatOutput> = {},
): ChatOutput {
  return { choices: [{ text: ['It is ', 'four metres.'], finish: 'stop', ...choice }], usage, ...rest }
}

/** A script that sends the output as one JSON reply. */
export function jsonReply(reply: ChatOutput = chatOutput()): Script {
  return json(completionOf(reply))
}

/** A script that sends the output as a stream. */
export function streamReply(reply: ChatOutput = chatOutput()): Script {
  return events(framesOf(reply))
}

/** A script that streams these chunks; a string, bytes or a promise is a raw piece. */
export function chunks(pieces: readonly (object | Piece)[], end: End = finish): Script {
  const literal = (piece: object | Piece): piece is Piece =>
    typeof piece === 'string' || piece instanceof Uint8Array || piece instanceof Promise
  return events(
    pieces.map((piece) => (literal(piece) ? piece : frame(piece))),
    end,
  )
}

/** A chunk of choice 0 with this delta. */
export function delta(fields: object, finish_reason: string | null = null): object {
  return choiceChunk(0, fields, finish_reason)
}

export const doneFrame = 'data: [DONE]\n\n'

/** All frames of the stream of an output, one string each. */
export function framesOf(reply: ChatOutput): string[] {
  const opening = reply.choices.map((_, index) => choiceChunk(index, { role: 'assistant', content: '' }))
  const usage = reply.usage ? [{ ...common, choices: [], usage: reply.usage }] : []
  const tier = reply.tier === undefined ? {} : { service_tier: reply.tier }
  const objects = [...opening, ...reply.choices.flatMap(chunksOf), ...usage]
  return [...objects.map((object) => frame({ ...object, ...tier })), doneFrame]
}

const common = { id: 'upstream-1', created: 1, model: 'upstream-model' }

function frame(object: object): string {
  return `data: ${JSON.stringify(object)}\n\n`
}

function choiceChunk(index: number, delta: object, finish_reason: string | null = null): object {
  return { ...common, object: 'chat.completion.chunk', choices: [{ index, delta, finish_reason }] }
}

function chunksOf(
  { text = [], reasoning = [], calls = [], finish }: ChatOutputChoice,
  index: number,
): object[] {
  const pieces = [
    ...reasoning.map((piece) => ({ reasoning_content: piece })),
    ...text.map((content) => ({ content })),
    ...calls.flatMap(callPieces),
  ]
  return [...pieces.map((piece) => choiceChunk(index, piece)), choiceChunk(index, {}, finish)]
}

function callPieces({ id, name, arguments: [first = '', ...rest] }: ChatOutputCall, index: number): object[] {
  const begin = { index, id, type: 'function', function: { name, arguments: first } }
  const more = rest.map((text) => ({ index, function: { arguments: text } }))
  return [begin, ...more].map((call) => ({ tool_calls: [call] }))
}

/** The complete reply of an output, as its provider would send it. */
export function completionOf({ choices, usage, tier }: ChatOutput): object {
  return {
    ...common,
    object: 'chat.completion',
    choices: choices.map(choiceOf),
    ...(usage && { usage }),
    ...(tier && { service_tier: tier }),
  }
}

function choiceOf({ text, reasoning, calls, finish }: ChatOutputChoice, index: number): object {
  const message = {
    role: 'assistant',
    content: text?.join('') ?? null,
    ...(reasoning && { reasoning_content: reasoning.join('') }),
    ...(calls && { tool_calls: calls.map(callOf) }),
  }
  return { index, message, finish_reason: finish }
}

function callOf({ id, name, arguments: pieces }: ChatOutputCall): object {
  return { id, type: 'function', function: { name, arguments: pieces.join('') } }
}
