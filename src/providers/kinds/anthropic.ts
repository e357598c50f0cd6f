import { listingAt, noListing } from '../model-listing.ts'
import type { RemoteKind } from '../provider.ts'
import { vertexMessages } from '../protocols/anthropic/vertex.ts'
import { anthropicMessages } from '../protocols/anthropic/protocol.ts'
import type { Target } from '../protocols/protocol.ts'
import { bearer } from './bearer.ts'

/** Claude at Anthropic, and whoever else speaks the Messages interface. */
export const anthropic: RemoteKind = {
  name: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  keyVariables: ['ANTHROPIC_API_KEY'],
  protocol: anthropicMessages,
  path: () => '/v1/messages',
  listing: listingAt('/v1/models?limit=1000'),
  headers: { 'anthropic-version': '2023-06-01' },
  authorize: (key) => ({ 'x-api-key': key }),
}

/** Claude at Google Cloud, by the address of a project and location. */
export const vertexAnthropic: RemoteKind = {
  name: 'vertex-anthropic',
  keyVariables: [],
  googleCloud: true,
  protocol: vertexMessages,
  path: vertexPath,
  listing: noListing,
  authorize: bearer,
}

/** Versions of models stand behind an `@`, which Google writes as it is. */
function vertexPath({ model, stream }: Target): string {
  const name = encodeURIComponent(model).replaceAll('%40', '@')
  return `/publishers/anthropic/models/${name}:${stream ? 'streamRawPredict' : 'rawPredict'}`
}
