import { noListing } from '../model-listing.ts'
import type { Address, RemoteKind } from '../provider.ts'
import { openai } from '../protocols/openai-chat/dialects/openai.ts'
import { openaiChat } from '../protocols/openai-chat/protocol.ts'
import type { Target } from '../protocols/protocol.ts'

/** Azure OpenAI and Azure AI Foundry, by the address of the resource; a model is named by its deployment. */
export const azure: RemoteKind = {
  name: 'azure',
  keyVariables: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'],
  protocol: openaiChat(openai('azure')),
  path,
  // It lists what could be deployed, and a route names a deployment.
  listing: noListing,
  authorize: (key) => ({ 'api-key': key }),
}

/** The versions in which each of the older URLs takes all that the wire sends. */
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
