import type { Recording } from './recorded-facts.ts'

type Facts = Recording['meta']['facts']
type Choice = NonNullable<Facts['choices']>[number]
/** The facts of a recording of the Responses API, as the independent reader noted them. */
type ResponseFacts = Pick<Facts, 'usage' | 'error'> & {
  readonly status?: string | null
  readonly incomplete_details?: { readonly reason?: string } | null
  readonly text?: string
  readonly reasoning_summary?: string
  readonly tool_calls?: Choice['tool_calls']
}

/** The facts in the form of those of chat completions; none if the recording has no finished response. */
export function factsOfResponse(facts: ResponseFacts, body: string): Facts | undefined {
  const { status, text = '', tool_calls, error } = facts
  if (error) return { error: typeof error === 'string' ? { message: error } : error }
  const usage = facts.usage?.prompt_tokens ? facts.usage : null
  if (status === 'failed') return { usage, error: { message: status } }
  if (status !== 'completed' && status !== 'incomplete') return undefined
  const reasoning = facts.reasoning_summary || reasoningIn(body)
  return { usage, choices: [{ text, reasoning, tool_calls, finish_native: finishOf(facts) }] }
}

function finishOf({ status, incomplete_details }: ResponseFacts): string | null {
  if (status === 'completed') return 'stop'
  return incomplete_details?.reason === 'max_output_tokens' ? 'length' : (incomplete_details?.reason ?? null)
}

/** Open models have no summary; their reasoning is in the last object with output. */
function reasoningIn(body: string): string {
  const documents = body.startsWith('{')
    ? [body]
    : body.split('\n').map((line) => line.replace(/^data: ?/, ''))
  const last = documents.findLast((text) => text.startsWith('{') && text.includes('"output":[{'))
  if (last === undefined) return ''
  const document = JSON.parse(last)
  const output: { type: string; content?: { text: string }[] }[] = (document.response ?? document).output
  const reasoning = output.filter((item) => item.type === 'reasoning')
  return reasoning.flatMap((item) => item.content ?? []).reduce((all, { text }) => all + text, '')
}
