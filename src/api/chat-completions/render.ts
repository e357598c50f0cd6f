import type { Answer, AnswerChoice } from '../../domain/generation/answer.ts'
import {
  type Citation,
  type GenerationEvent,
  joinLogprobs,
  type LogprobsWithText,
  type ToolCall,
  type ToolCallBegin,
  type ToolCallDelta,
  type ToolCallEvent,
  type Usage,
} from '../../domain/generation/events.ts'
import { estimatedUsageWarning, type MeteredUsage } from '../../gateway/billing/meter.ts'
import { renderCitation } from '../../http/citation.ts'
import { renderUsage } from '../../http/usage.ts'
import { timeSortedId } from '../../lib/id.ts'
import { type Fields, isObject } from '../../lib/json/json.ts'
import type { Annotation, ChatCompletion } from './reply-schema.ts'

/** The properties that a completion and each chunk of its stream have in common. */
export type ReplyMetadata = {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  /** The slug of the requested model. */
  readonly model: string
  readonly provider: string
  readonly performanceMode: 'standard' | 'fast'
  /** The client has requested log probabilities. */
  readonly logprobs: boolean
  /** Token counts have those that were written to a cache. */
  readonly cacheWriteTokens: boolean
  readonly warnings: readonly string[]
}

/** Creates the metadata of a reply that begins now, with a new id. */
export function replyMetadata(properties: Omit<ReplyMetadata, 'id' | 'created'>): ReplyMetadata {
  return { ...properties, id: timeSortedId('chatcmpl-'), created: Math.floor(Date.now() / 1000) }
}

/** Renders a complete answer as a chat completion. */
export function renderCompletion(
  answer: Answer,
  usage: MeteredUsage,
  metadata: ReplyMetadata,
): ChatCompletion {
  const warnings = metadata.warnings.slice()
  if (usage.estimated) warnings.push(estimatedUsageWarning)
  return {
    id: metadata.id,
    object: 'chat.completion',
    created: metadata.created,
    model: metadata.model,
    choices: answer.choices.map((choice, index) => renderChoice(choice, index, metadata.logprobs)),
    usage: renderUsage(usage, metadata.cacheWriteTokens),
    provider: metadata.provider,
    warnings: warnings.length > 0 ? warnings : undefined,
    service_tier: answer.tier,
    performance_mode: metadata.performanceMode,
  }
}

type Choice = ChatCompletion['choices'][number]

function renderChoice(choice: AnswerChoice, index: number, hasLogprobs: boolean): Choice {
  const { text, reasoning, toolCalls, finish, citations } = choice
  const message = {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    tool_calls: toolCalls.length > 0 ? toolCalls.map(renderToolCall) : undefined,
    reasoning: reasoning === '' ? undefined : reasoning,
    annotations: citations?.map(renderAnnotation),
  }
  return {
    index,
    message,
    finish_reason: finish,
    logprobs: hasLogprobs ? renderLogprobs(choice.logprobs) : null,
  }
}

function renderAnnotation(citation: Citation): Annotation {
  return { type: 'url_citation', url_citation: renderCitation(citation) }
}

/** Renders the log probabilities of a choice or of a chunk, both lists or null. */
function renderLogprobs(logprobs: unknown): Choice['logprobs'] {
  if (!isObject(logprobs)) return null
  const { content, refusal } = logprobs
  return { content: listOrNull(content), refusal: listOrNull(refusal) }
}

function listOrNull(value: unknown): Fields[] | null {
  return Array.isArray(value) ? value.filter(isObject) : null
}

/** Renders a tool call of a completion or a chunk. */
function renderToolCall(call: ToolCall) {
  return {
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: call.arguments },
  }
}

/**
 * Renders the frames of one streamed completion. They are concatenated from text: only the delta differs from chunk to
 * chunk, and to build and serialize an object for each chunk would cost more than all other work on it.
 */
export class ChunkRenderer {
  /** The stream ends with a chunk that has the usage. */
  readonly includeUsage: boolean
  readonly #fragments: boolean
  readonly #logprobs: boolean
  readonly #cacheWriteTokens: boolean
  readonly #head: string
  readonly #tail: string
  /** The number of tool calls that each started choice has sent, by the index of the choice. */
  readonly #toolCalls: number[] = []
  /** Fields of the very first chunk alone; empty after it. */
  #firstChunkFields: string
  #tier: 'default' | 'priority' | null | undefined

  /** With `fragments`, the arguments of tool calls are sent as they arrive, otherwise each call is sent complete. */
  constructor(metadata: ReplyMetadata, includeUsage: boolean, fragments: boolean) {
    this.includeUsage = includeUsage
    this.#fragments = fragments
    this.#logprobs = metadata.logprobs
    this.#cacheWriteTokens = metadata.cacheWriteTokens
    this.#head = headOf(metadata)
    this.#tail = includeUsage ? ',"usage":null}\n\n' : '}\n\n'
    this.#firstChunkFields = firstChunkFieldsOf(metadata)
  }

  /** The frames of a batch; empty for events that no chunk represents. */
  chunks(batch: readonly GenerationEvent[]): string {
    let text = ''
    for (const event of this.#logprobs ? joinLogprobs(batch) : batch) text += this.#chunk(event)
    return text
  }

  /** The chunk with the usage, which precedes `doneFrame`. */
  usage(usage: Usage, warnings: readonly string[]): string {
    const optional = warnings.length > 0 ? { warnings } : {}
    const rendered = renderUsage(usage, this.#cacheWriteTokens)
    return `${this.#head}],${JSON.stringify({ usage: rendered, ...optional }).slice(1)}\n\n`
  }

  #chunk(event: ChunkEvent): string {
    switch (event.type) {
      case 'text':
        return this.#delta(event.choice, `{"content":${JSON.stringify(event.text)}}`)
      case 'logprobs':
        return this.#logprobsChunk(event)
      case 'reasoning':
        return this.#delta(event.choice, `{"reasoning":${JSON.stringify(event.text)}}`)
      case 'citations':
        return this.#delta(
          event.choice,
          JSON.stringify({ annotations: event.citations.map(renderAnnotation) }),
        )
      case 'tool-call-begin':
        return this.#fragments ? this.#firstFragment(event) : this.#opening(event.choice)
      case 'tool-call-delta':
        return this.#fragments ? this.#fragment(event) : ''
      case 'tool-call':
        return this.#fragments ? '' : this.#completeToolCall(event)
      case 'finish':
        return this.#delta(event.choice, '{}', `"${event.reason}"`, tierField(this.#tier))
      case 'tier':
        this.#tier = event.tier
        return ''
      default:
        return ''
    }
  }

  /** Text and its log probabilities share a chunk. */
  #logprobsChunk({ choice, logprobs, text }: LogprobsWithText): string {
    const rendered = this.#logprobs ? renderLogprobs(logprobs) : null
    if (rendered === null) return ''
    const delta = text === undefined ? '{}' : `{"content":${JSON.stringify(text)}}`
    return (
      this.#opening(choice) +
      this.#frame(choice, `${delta},"logprobs":${JSON.stringify(rendered)}`, 'null', '')
    )
  }

  /** A chunk with this delta, after the chunk with the role where the choice has not started yet. */
  #delta(choice: number, delta: string, finish = 'null', fields = ''): string {
    if (this.#toolCalls[choice] !== undefined) return this.#frame(choice, delta, finish, fields)
    return this.#opening(choice) + this.#frame(choice, delta, finish, fields)
  }

  /** The chunk with the role; empty where the choice has started. */
  #opening(choice: number): string {
    if (this.#toolCalls[choice] !== undefined) return ''
    this.#toolCalls[choice] = 0
    const opening = this.#frame(choice, '{"role":"assistant","content":""}', 'null', this.#firstChunkFields)
    this.#firstChunkFields = ''
    return opening
  }

  #completeToolCall({ choice, call }: ToolCallEvent): string {
    const index = this.#toolCalls[choice] ?? 0
    const text = this.#toolCall(choice, { index, ...renderToolCall(call) })
    this.#toolCalls[choice] = index + 1
    return text
  }

  /** Only the first fragment has the id and the name: clients concatenate values that are repeated. */
  #firstFragment({ choice, index, id, name }: ToolCallBegin): string {
    return this.#toolCall(choice, { index, ...renderToolCall({ id, name, arguments: '' }) })
  }

  #fragment({ choice, index, arguments: text }: ToolCallDelta): string {
    return this.#toolCall(choice, { index, function: { arguments: text } })
  }

  #toolCall(choice: number, call: object): string {
    return this.#delta(choice, JSON.stringify({ tool_calls: [call] }))
  }

  #frame(choice: number, delta: string, finish: string, fields: string): string {
    return `${this.#head}{"index":${choice},"delta":${delta},"finish_reason":${finish}}]${fields}${this.#tail}`
  }
}

type ChunkEvent = GenerationEvent | LogprobsWithText

/** From text, like the frames: it is rendered for each stream. An id and a time need no escaping. */
function headOf({ id, created, model, provider }: ReplyMetadata): string {
  const served = `"model":${JSON.stringify(model)},"provider":${JSON.stringify(provider)}`
  return `data: {"id":"${id}","object":"chat.completion.chunk","created":${created},${served},"choices":[`
}

function firstChunkFieldsOf({ performanceMode, warnings }: ReplyMetadata): string {
  const mode = `,"performance_mode":"${performanceMode}"`
  return warnings.length > 0 ? `${mode},"warnings":${JSON.stringify(warnings)}` : mode
}

function tierField(tier: 'default' | 'priority' | null | undefined): string {
  return tier === undefined ? '' : `,"service_tier":${JSON.stringify(tier)}`
}
