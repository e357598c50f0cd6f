import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { randomText } from '../../../src/lib/id.ts'
import { type Fields, fieldsOf } from '../../../src/lib/json/json.ts'
import type { AgentPlan } from './agent-plan.ts'
import { type AgentProtocol, stepTokens } from './agent-protocols.ts'

/** A provider on loopback whose model is an agent with a plan. */
export type AgentProvider = AsyncDisposable & {
  readonly url: string
  /** The bodies of the requests for a step, in order. */
  readonly requests: readonly Fields[]
  /** The response to the following requests, instead of a step; undefined returns to the plan. */
  respondWith(reply: ProviderReply | undefined): void
}

/** Sends the response to a request; returns what responds to the next one, if that is another. */
export type ProviderReply = (response: ServerResponse) => { readonly next: ProviderReply | undefined } | void

/** Starts one. */
export async function startAgentProvider(protocol: AgentProtocol, plan: AgentPlan): Promise<AgentProvider> {
  const requests: Fields[] = []
  let reply: ProviderReply | undefined
  const server = createServer((request, response) => void respond(request, response))

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = fieldsOf(JSON.parse(await readText(request)))
    if (request.url?.includes('count_tokens')) return sendJson(response, { input_tokens: stepTokens.input })
    requests.push(body)
    if (reply) {
      const change = reply(response)
      if (change) reply = change.next
      return
    }
    const step = plan(protocol.tools(body), protocol.results(body))
    const frames = protocol.frames(step, randomText(16))
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames.map(frameText).join(''))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    requests,
    respondWith: (next) => void (reply = next),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Rejects every request with this status and message. */
export function rejection(status: number, message: string): ProviderReply {
  return (response) => sendJson(response, { error: { message, type: 'invalid_request_error' } }, status)
}

/** Breaks a stream after these frames, once they have been passed on, and returns to the plan. */
export function brokenStream(frames: readonly object[], passedOn: () => Promise<void>): ProviderReply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frames.map(frameText).join(''))
    void passedOn().then(() => response.destroy())
    return { next: undefined }
  }
}

function sendJson(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function frameText(data: object | string): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}
