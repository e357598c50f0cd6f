import type {
  GenerationEvent,
  ToolCallBegin,
  ToolCallDelta,
  ToolCallEvent,
} from '../../domain/generation/events.ts'
import type { Usage } from '../../domain/generation/usage.ts'
import type { ReplyMetadata } from './reply-metadata.ts'
import { renderToolCall } from './render.ts'
import { renderUsage } from './render-usage.ts'

/** The frame that says that the answer is whole. */
export const done = 'data: [DONE]\n\n'

/**
 * Writes the frames of one streamed completion. They are put together from text: of a chunk only the piece of
 * the answer changes, and to build and write an object for each would cost more than all else that is done for it.
 */
export class ChunkRenderer {
  /** The caller asked for a last chunk with the usage. */
  readonly usageAsked: boolean
  readonly #fragments: boolean
  readonly #head: string
  readonly #tail: string
  /** How many whole tool calls each choice that has begun has sent, by its number. */
  readonly #calls: number[] = []
  /** What only the very first chunk tells. */
  #toldOnce: string
  #tier: 'default' | 'priority' | null | undefined

  /** With `fragments`, tool calls are sent as they grow, and else whole. */
  constructor(facts: ReplyMetadata, usageAsked: boolean, fragments: boolean) {
    this.usageAsked = usageAsked
    this.#fragments = fragments
    this.#head = headOf(facts)
    this.#tail = usageAsked ? ',"usage":null}\n\n' : '}\n\n'
    this.#toldOnce = toldOnceOf(facts)
  }

  /** The frames of a batch; empty where it says nothing that a chunk can. */
  chunks(batch: readonly GenerationEvent[]): string {
    let text = ''
    for (const event of batch) text += this.#chunk(event)
    return text
  }

  /** The last chunk for callers who asked for usage. */
  usage(usage: Usage, warnings: readonly string[]): string {
    const told = warnings.length > 0 ? { warnings } : {}
    return `${this.#head}],${JSON.stringify({ usage: renderUsage(usage), ...told }).slice(1)}\n\n`
  }

  #chunk(event: GenerationEvent): string {
    switch (event.type) {
      case 'text':
        return this.#delta(event.choice, `{"content":${JSON.stringify(event.text)}}`)
      case 'reasoning':
        return this.#delta(event.choice, `{"reasoning":${JSON.stringify(event.text)}}`)
      case 'tool-call-begin':
        return this.#fragments ? this.#firstFragment(event) : this.#opening(event.choice)
      case 'tool-call-delta':
        return this.#fragments ? this.#fragment(event) : ''
      case 'tool-call':
        return this.#fragments ? '' : this.#wholeCall(event)
      case 'finish':
        return this.#delta(event.choice, '{}', `"${event.reason}"`, tierField(this.#tier))
      case 'tier':
        this.#tier = event.tier
        return ''
      default:
        return ''
    }
  }

  /** The role is told once for each choice, in a chunk of its own before its first delta. */
  #delta(choice: number, delta: string, finish = 'null', more = ''): string {
    if (this.#calls[choice] !== undefined) return this.#frame(choice, delta, finish, more)
    return this.#opening(choice) + this.#frame(choice, delta, finish, more)
  }

  /** The chunk with the role; empty where the choice has had it. */
  #opening(choice: number): string {
    if (this.#calls[choice] !== undefined) return ''
    this.#calls[choice] = 0
    const opening = this.#frame(choice, '{"role":"assistant","content":""}', 'null', this.#toldOnce)
    this.#toldOnce = ''
    return opening
  }

  #wholeCall({ choice, call }: ToolCallEvent): string {
    const index = this.#calls[choice] ?? 0
    const text = this.#toolCall(choice, { index, ...renderToolCall(call) })
    this.#calls[choice] = index + 1
    return text
  }

  /** Only the first fragment says which call it is: clients join what comes again. */
  #firstFragment({ choice, index, id, name }: ToolCallBegin): string {
    return this.#toolCall(choice, { index, ...renderToolCall({ id, name, arguments: '' }) })
  }

  #fragment({ choice, index, arguments: text }: ToolCallDelta): string {
    return this.#toolCall(choice, { index, function: { arguments: text } })
  }

  #toolCall(choice: number, call: object): string {
    return this.#delta(choice, JSON.stringify({ tool_calls: [call] }))
  }

  #frame(choice: number, delta: string, finish: string, more: string): string {
    return `${this.#head}{"index":${choice},"delta":${delta},"finish_reason":${finish}}]${more}${this.#tail}`
  }
}

function headOf({ id, created, model, provider }: ReplyMetadata): string {
  const fields = { id, object: 'chat.completion.chunk', created, model, provider }
  return `data: ${JSON.stringify(fields).slice(0, -1)},"choices":[`
}

function toldOnceOf({ performanceMode, warnings }: ReplyMetadata): string {
  const told = warnings.length > 0 ? { warnings } : {}
  return `,${JSON.stringify({ performance_mode: performanceMode, ...told }).slice(1, -1)}`
}

function tierField(tier: 'default' | 'priority' | null | undefined): string {
  return tier === undefined ? '' : `,"service_tier":${JSON.stringify(tier)}`
}
