import type { Answer, AnswerChoice } from '../../domain/generation/answer.ts'
import {
  type FinishReason,
  type GenerationEvent,
  joinLogprobs,
  type LogprobsWithText,
} from '../../domain/generation/events.ts'
import { estimatedUsageWarning, type MeteredUsage } from '../../gateway/billing/meter.ts'
import { renderUsage } from '../../http/usage.ts'
import { timeSortedId } from '../../lib/id.ts'
import { type Fields, isObject, type Json } from '../../lib/json/json.ts'
import type { Completion } from './schema.ts'

/** The properties that a completion and each chunk of its stream have in common. */
export type ReplyMetadata = {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  /** The slug of the requested model. */
  readonly model: string
  readonly provider: string
  readonly warnings: readonly string[]
}

/** Creates the metadata of a reply that begins now, with a new id. */
export function replyMetadata(properties: Omit<ReplyMetadata, 'id' | 'created'>): ReplyMetadata {
  return { ...properties, id: timeSortedId('cmpl-'), created: Math.floor(Date.now() / 1000) }
}

/** Renders a complete answer as a completion. */
export function renderCompletion(answer: Answer, usage: MeteredUsage, metadata: ReplyMetadata): Completion {
  const { id, created, model, provider } = metadata
  const warnings = [...metadata.warnings, ...(usage.estimated ? [estimatedUsageWarning] : [])]
  return {
    id,
    object: 'text_completion',
    created,
    model,
    choices: answer.choices.map(renderChoice),
    usage: renderUsage(usage),
    provider,
    ...(warnings.length > 0 && { warnings }),
  }
}

type Choice = Completion['choices'][number]

function renderChoice({ text, logprobs, finish }: AnswerChoice, index: number): Choice {
  return { index, text, logprobs: logprobs ?? null, finish_reason: toReason(finish) }
}

function fieldsOrNull(logprobs: Json | undefined): Fields | null {
  return isObject(logprobs) ? logprobs : null
}

/** A completion calls no tools. */
function toReason(finish: FinishReason | null): Choice['finish_reason'] {
  return finish === 'tool_calls' ? 'stop' : finish
}

/** Renders the frames of one streamed completion. */
export class ChunkRenderer {
  /** The stream ends with a chunk that has the usage. */
  readonly includeUsage: boolean
  readonly #head: Omit<ReplyMetadata, 'warnings'> & { readonly object: 'text_completion' }
  /** The warnings until the first chunk. */
  #warnings: readonly string[]

  constructor({ warnings, ...metadata }: ReplyMetadata, includeUsage: boolean) {
    this.includeUsage = includeUsage
    this.#head = { ...metadata, object: 'text_completion' }
    this.#warnings = warnings
  }

  /** The frames of a batch; empty for events that no chunk represents. */
  chunks(batch: readonly GenerationEvent[]): string {
    let frames = ''
    for (const event of joinLogprobs(batch)) frames += this.#chunk(event)
    return frames
  }

  /** The chunk with the usage, which precedes the last frame. */
  usage(usage: MeteredUsage): string {
    const warnings = usage.estimated ? { warnings: [estimatedUsageWarning] } : {}
    return this.#frame([], { usage: renderUsage(usage), ...warnings })
  }

  #chunk(event: GenerationEvent | LogprobsWithText): string {
    switch (event.type) {
      case 'text':
        return this.#open(event.choice, event.text, undefined)
      case 'logprobs':
        return this.#open(event.choice, 'text' in event ? (event.text ?? '') : '', event.logprobs)
      case 'finish':
        return this.#choice({
          index: event.choice,
          text: '',
          logprobs: null,
          finish_reason: toReason(event.reason),
        })
      default:
        return ''
    }
  }

  #open(index: number, text: string, logprobs: Json | undefined): string {
    return this.#choice({ index, text, logprobs: fieldsOrNull(logprobs), finish_reason: null })
  }

  #choice(choice: Choice): string {
    const warnings = this.#warnings.length > 0 ? { warnings: this.#warnings } : {}
    this.#warnings = []
    return this.#frame([choice], { ...(this.includeUsage && { usage: null }), ...warnings })
  }

  #frame(choices: readonly Choice[], fields: object): string {
    return `data: ${JSON.stringify({ ...this.#head, choices, ...fields })}\n\n`
  }
}
