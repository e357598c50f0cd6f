import type { App } from '../../support/app.ts'
import { type End, type Script, events, finish, json } from '../../support/script.ts'

/** The settings of a model that completes prompts and nothing else. */
export const completionModel = { supported_apis: ['completions' as const] }

/** A minimal completion request. */
export const completionRequest = { model: 'acme/river', prompt: 'The gate is' }

export const completionUsage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }

/** A choice as a provider sends it. */
export function choice(text: string, changes: object = {}): object {
  return { index: 0, text, logprobs: null, finish_reason: null, ...changes }
}

/** A script that sends these choices as one JSON reply. */
export function completionReply(choices: readonly object[], usage: object | null = completionUsage): Script {
  return json({ id: 'cmpl-1', object: 'text_completion', model: 'river-1', choices, ...(usage && { usage }) })
}

/** A script that streams one choice in each chunk, then the usage and `[DONE]`. */
export function completionStream(choices: readonly object[]): Script {
  return events([...choices.map((one) => chunk([one])), chunk([], { usage: completionUsage }), done])
}

/** A script that streams these choices, and ends without `[DONE]`. */
export function unfinishedStream(choices: readonly object[], end: End = finish): Script {
  return events(
    choices.map((one) => chunk([one])),
    end,
  )
}

export const done = 'data: [DONE]\n\n'

export function chunk(choices: readonly object[], fields: object = {}): string {
  return `data: ${JSON.stringify({ id: 'cmpl-1', object: 'text_completion', choices, ...fields })}\n\n`
}

/** Sends the request to the app. */
export function complete(app: App, body: object, signal?: AbortSignal): Promise<Response> {
  return app.request('/v1/completions', { method: 'POST', body, signal })
}

export type CompletionBody = {
  readonly id: string
  readonly choices: readonly {
    readonly index: number
    readonly text: string
    readonly logprobs: object | null
    readonly finish_reason: string | null
  }[]
  readonly usage?: object | null
  readonly warnings?: readonly string[]
}

/** Sends the request and parses its reply. */
export async function completionOf(app: App, body: object): Promise<CompletionBody> {
  return (await (await complete(app, body)).json()) as CompletionBody
}

/** The chunks of a stream, its error, and whether it ends with `[DONE]`. */
export async function streamedCompletion(app: App, body: object) {
  const text = await (await complete(app, { ...body, stream: true })).text()
  const data = text.split('\n\n').flatMap((frame) => (frame.startsWith('data: ') ? [frame.slice(6)] : []))
  const objects = data.filter((piece) => piece !== '[DONE]').map((piece) => JSON.parse(piece))
  return {
    chunks: objects.filter(({ error }) => error === undefined) as CompletionBody[],
    error: objects.find(({ error }) => error !== undefined)?.error as { code: string } | undefined,
    done: data.at(-1) === '[DONE]',
  }
}
