import { nameSet } from '../../lib/text.ts'
import { listingAt, noListing } from '../model-listing.ts'
import { anthropicMessages, vertexMessages } from '../protocols/anthropic/protocol.ts'
import type { Body, Target } from '../protocols/protocol.ts'
import { bearer, type RemoteKind } from '../provider.ts'
import { googleCloudSettings } from './gemini.ts'

/** Claude at Anthropic, and other providers of the Messages API. */
export const anthropic: RemoteKind = {
  name: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  keyVariables: ['ANTHROPIC_API_KEY'],
  protocol: anthropicMessages,
  path: () => '/v1/messages',
  tokenCount: { path: '/v1/messages/count_tokens', body: promptOf },
  listing: listingAt('/v1/models?limit=1000'),
  headers: { 'anthropic-version': '2023-06-01' },
  authorize: (key) => ({ 'x-api-key': key }),
  maxImageTokens: claudeImageTokens,
}

/** Claude on Google Cloud, in a project and location. */
export const vertexAnthropic: RemoteKind = {
  name: 'vertex-anthropic',
  keyVariables: [],
  googleCloud: true,
  protocol: vertexMessages,
  path: vertexPath,
  listing: noListing,
  authorize: bearer,
  settings: googleCloudSettings,
  telemetryName: 'gcp.vertex_ai',
  maxImageTokens: claudeImageTokens,
}

const promptFields = nameSet(
  'model messages system tools tool_choice thinking output_config output_format cache_control',
  'context_management mcp_servers',
)

/** The fields of the prompt: the endpoint that counts its tokens rejects any other. */
function promptOf(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([name]) => promptFields.has(name)))
}

/** Google separates the version of a model with an `@` and expects it unescaped. */
function vertexPath({ model, stream }: Target): string {
  const name = encodeURIComponent(model).replaceAll('%40', '@')
  return `/publishers/anthropic/models/${name}:${stream ? 'streamRawPredict' : 'rawPredict'}`
}

/** The documented maximum of one image. */
function claudeImageTokens(): number {
  return 4784
}
