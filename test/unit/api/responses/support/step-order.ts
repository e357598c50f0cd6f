import type { ResponseStreamEvent } from '../../../../../src/api/responses/render/event-schema.ts'
import type { OutputItem, ResponseObject } from '../../../../../src/api/responses/render/reply-schema.ts'

/** What a reader puts together from the pieces alone; throws where they come in an order that clients do not take. */
export function assemble(events: readonly ResponseStreamEvent[]): {
  /** What the items add up to. */
  readonly output: readonly OutputItem[]
  /** The content of the last event, if it ends the stream. */
  readonly end: ResponseObject | undefined
} {
  const output: OutputItem[] = []
  const ids = new Set<string>()
  let open: Open | undefined
  let end: ResponseObject | undefined
  must(events[0]?.type === 'response.created', 'The first event is no response.created.')

  for (const event of events) {
    must(end === undefined, `${event.type} follows the end.`)
    if ('response' in event) {
      if (/completed|incomplete|failed/.test(event.response.status)) end = event.response
      must((end !== undefined) === /completed|incomplete|failed/.test(event.type), `${event.type} lies.`)
    } else if ('item' in event) {
      const { item, output_index: index } = event
      if (event.type === 'response.output_item.added') {
        must(open === undefined, 'An item is added while one is open.')
        must(index === output.length, 'The item is not the next one.')
        must(item.id !== '' && !ids.has(item.id), 'The id is not new.')
        ids.add(item.id)
        open = { id: item.id, type: item.type, index, text: '', stage: 'added' }
      } else {
        must(open !== undefined && open.index === index, 'No such item is open.')
        must(mayEnd(open, item), `${item.type} ends when it is ${open.stage}.`)
        must(item.id === open.id && item.type === open.type, 'Another item ends.')
        output.push(item)
        open = undefined
      }
    } else if ('item_id' in event) {
      must(open?.id === event.item_id, `${event.type} names another item.`)
      must(event.output_index === open.index, `${event.type} is at another place.`)
      advance(open, event)
    }
  }
  if (end !== undefined && open !== undefined) output.push(unfinishedCall(open, end))
  return { output, end }
}

type Open = {
  readonly id: string
  readonly type: OutputItem['type']
  readonly index: number
  text: string
  stage: 'added' | 'in its part' | 'text done' | 'part done'
}

/** A call that was cut off, and reasoning without text, end without a text that is done. */
function mayEnd({ type, stage }: Open, item: OutputItem): boolean {
  if ('call_id' in item) return stage === (item.status === 'completed' ? 'text done' : 'added')
  return stage === 'part done' || (type === 'reasoning' && stage === 'added' && 'encrypted_content' in item)
}

/** A failed response has its unfinished call only in its last event, so that no client executes it. */
function unfinishedCall({ id, index, text }: Open, { status, output }: ResponseObject): OutputItem {
  const item = output[index]
  must(status === 'failed' && item?.id === id, 'The stream ends inside an item.')
  must('call_id' in item && item.status === 'incomplete', 'The stream ends inside a text.')
  must(text === ('input' in item ? item.input : item.arguments), 'The call is not what its deltas add up to.')
  return item
}

type PartEvent = Extract<ResponseStreamEvent, { readonly item_id: string }>

const stages = {
  'part.added': ['added', 'in its part'],
  'text.delta': ['in its part', 'in its part'],
  'text.done': ['in its part', 'text done'],
  'part.done': ['text done', 'part done'],
} as const

function advance(open: Open, event: PartEvent): void {
  const isCall = /_call/.test(open.type)
  must('content_index' in event === (open.type === 'message'), `${event.type} is of another kind.`)
  must('summary_index' in event === (open.type === 'reasoning'), `${event.type} is of another kind.`)
  if ('content_index' in event) must(event.content_index === 0, 'There is one part.')
  if ('summary_index' in event) must(event.summary_index === 0, 'There is one part.')
  if (isCall) advanceCall(open, event)
  else advancePart(open, event)
  if ('delta' in event) open.text += event.delta
}

function advancePart(open: Open, event: PartEvent): void {
  const [what] = /(part|text)\.\w+$/.exec(event.type)!
  const [from, to] = stages[what as keyof typeof stages]
  must(open.stage === from, `${event.type} comes when the item is ${open.stage}.`)
  open.stage = to
  if ('text' in event) must(event.text === open.text, 'The text is not what the pieces add up to.')
  if ('part' in event) must(event.part.text === open.text, 'The part is not what the pieces add up to.')
}

function advanceCall(open: Open, event: PartEvent): void {
  must(
    event.type.includes(
      open.type === 'custom_tool_call' ? 'custom_tool_call_input' : 'function_call_arguments',
    ),
    `${event.type} is of another kind.`,
  )
  must(open.stage === 'added', `${event.type} comes when the call is ${open.stage}.`)
  if (event.type.endsWith('.done')) open.stage = 'text done'
  if ('arguments' in event)
    must(event.arguments === open.text, 'The arguments are not what the pieces add up to.')
  if ('input' in event) must(event.input === open.text, 'The input is not what the pieces add up to.')
}

function must(claim: boolean, otherwise: string): asserts claim {
  if (!claim) throw new Error(otherwise)
}
