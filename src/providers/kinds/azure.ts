import { noListing } from '../model-listing.ts'
import { isModelOfOpenAi, openai } from '../protocols/openai-chat/dialects/openai.ts'
import { openaiChat } from '../protocols/openai-chat/protocol.ts'
import { openaiEmbeddings } from '../protocols/openai-embeddings.ts'
import type { Target } from '../protocols/protocol.ts'
import type { Address, RemoteKind } from '../provider.ts'
import { openaiImageTokens } from './openai-chat.ts'

/** Azure OpenAI and Azure AI Foundry, at the URL of the resource; models are called by the name of their deployment. */
export const azure: RemoteKind = {
  name: 'azure',
  keyVariables: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'],
  protocol: openaiChat(openai('azure')),
  path,
  // The operator chooses the name of a deployment.
  familyOf: (deployment, slug) =>
    isModelOfOpenAi(deployment) ? deployment : slug.slice(slug.lastIndexOf('/') + 1),
  responsesApi: true,
  operations: {
    embedding: { protocol: openaiEmbeddings({ name: 'azure', format: 'base64' }), path: embeddingsPath },
  },
  // Azure lists the models that can be deployed, and a route names a deployment.
  listing: noListing,
  settings: ['api_version'],
  telemetryName: 'azure.ai.openai',
  maxImageTokens: openaiImageTokens,
  authorize: (key) => ({ 'api-key': key }),
}

function embeddingsPath(target: Target, address: Address): string {
  return path(target, address).replace('/chat/completions', '/embeddings')
}

/** The api-versions in which each of the older URLs supports every field that the protocol sends. */
const deploymentVersion = '2024-10-21'
const foundryVersion = '2024-05-01-preview'

function path({ model }: Target, { baseUrl, apiVersion }: Address): string {
  const base = baseUrl.replace(/\/+$/, '')
  if (base.endsWith('/models')) return `/chat/completions?api-version=${apiVersion ?? foundryVersion}`
  if (base.includes('/openai/deployments/'))
    return `/chat/completions?api-version=${apiVersion ?? deploymentVersion}`
  const openaiPath = base.endsWith('/openai') ? '' : '/openai'
  if (base.endsWith('/openai/v1')) return '/chat/completions'
  if (apiVersion === undefined) return `${openaiPath}/v1/chat/completions`
  return `${openaiPath}/deployments/${encodeURIComponent(model)}/chat/completions?api-version=${apiVersion}`
}
