import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { GenerationStream } from '../../gateway/generate-request.ts'
import type { Model } from '../../gateway/models/model.ts'
import type { Models } from '../../gateway/models/models.ts'
import type { FrameSource } from '../../http/event-stream.ts'
import { clientOf } from '../../http/attribution.ts'
import type { RequestContext, RequestLabels } from '../../http/request-context.ts'
import type { Nanos } from '../../lib/usd.ts'
import { type GenerationDependencies, startGeneration } from '../generate.ts'
import { BlockFold, BlockReducer, MessageStream } from './message-stream.ts'
import type { BlockOptions } from './blocks.ts'
import type { MessageHeaders } from './lower.ts'
import { prepareMessage } from './prepare-message.ts'
import { renderMessage, type ReplyMetadata, replyMetadata } from './render.ts'
import type { MessageObject } from './reply-schema.ts'
import type { MessageRequest } from './schema.ts'

/** Resolves with the complete message, and with its cost where the model has a price. */
export async function completeMessage(
  request: MessageRequest,
  headers: MessageHeaders,
  context: RequestContext,
  parts: GenerationDependencies,
): Promise<{ readonly message: MessageObject; readonly cost: Nanos | undefined }> {
  const { stream, metadata, options } = await start(request, headers, context, parts)
  const reducer = new BlockReducer(options)
  const fold = new BlockFold()
  await stream.forEach((batch) => fold.add(reducer.add(batch)))
  fold.add(reducer.end())
  const message = renderMessage(metadata, fold.blocks(), stream.usage(), reducer.blocks)
  return { message, cost: stream.cost() }
}

/** Resolves when the answer begins, with a source of frames that is still to be read. */
export async function streamMessage(
  request: MessageRequest,
  headers: MessageHeaders,
  context: RequestContext,
  parts: GenerationDependencies,
): Promise<Omit<FrameSource<readonly GenerationEvent[]>, 'failed'>> {
  const { stream, metadata, options } = await start(request, headers, context, parts)
  const message = new MessageStream(metadata, options, () => stream.usage())
  return { items: stream, frames: (batch) => message.frames(batch), end: () => message.end() }
}

type StartedMessage = {
  readonly stream: GenerationStream
  readonly metadata: ReplyMetadata
  readonly options: BlockOptions
}

async function start(
  request: MessageRequest,
  headers: MessageHeaders,
  context: RequestContext,
  parts: GenerationDependencies,
): Promise<StartedMessage> {
  const prepare = (models: Models) => prepareMessage(request, headers, models, parts)
  const received = { api: 'messages', labels: labelsOf(request), context } as const
  const started = await startGeneration(received, prepare, parts)
  const { stream, warnings, prepared } = started
  const options = {
    provider: stream.provider,
    thinking: thinkingFor(request, prepared.model, stream.provider),
  }
  return { stream, metadata: replyMetadata({ model: prepared.slug, warnings }), options }
}

function labelsOf({ model, stream, metadata }: MessageRequest): RequestLabels {
  return { model, stream, ...clientOf(metadata?.user_id) }
}

/** Anthropic's own blocks are all shown, as the caller has to send them back. Other models may think unasked. */
function thinkingFor(
  { thinking }: MessageRequest,
  { routes }: Model,
  providerName: string,
): BlockOptions['thinking'] {
  if (thinking?.display === 'omitted') return 'omitted'
  if (thinking?.type !== 'disabled') return 'shown'
  const isAnthropic = routes.some(
    ({ provider: { name, kind } }) =>
      name === providerName && 'protocol' in kind && kind.protocol.name === 'anthropic',
  )
  return isAnthropic ? 'shown' : 'hidden'
}
