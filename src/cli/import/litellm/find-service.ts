import { catalog } from '../../../config/catalog.ts'
import { type Fields, textOf } from '../../../lib/json/json.ts'
import type { Notes } from './notes.ts'
import { services, unsupportedServices } from './services.ts'
import { specialServices, type Translation } from './special-services.ts'
import { quoted } from './values.ts'

/** Translates `litellm_params.model` and its address; returns a sentence where Weir cannot call the deployment. */
export function findService(params: Fields, path: string, notes: Notes): Translation | string {
  const text = textOf(params.model)?.trim()
  if (text === undefined) return 'It has no litellm_params.model.'
  const { service, model } = splitModel(text, textOf(params.custom_llm_provider))
  if (model.trim() === '') return `${quoted(text)} names no model.`
  if (service === undefined)
    return `LiteLLM's provider of ${quoted(text)} is not known; write it as provider/model and import again.`
  if (Object.hasOwn(unsupportedServices, service)) return unsupportedServices[service] ?? ''
  if (Object.hasOwn(specialServices, service)) {
    const apiBase = textOf(params.api_base)?.trim() ?? ''
    return specialServices[service]?.({ model, params, apiBase, path, notes }) ?? ''
  }
  const known = Object.hasOwn(services, service) ? services[service] : undefined
  if (known === undefined) return unknownService(service, model, params, path, notes)
  const { kind, baseUrl, keyVariable } = known
  return { kind, model, defaultBaseUrl: baseUrl, keyVariable }
}

/** Most servers with an address of their own are compatible with OpenAI. */
function unknownService(
  service: string,
  model: string,
  params: Fields,
  path: string,
  notes: Notes,
): Translation | string {
  if (textOf(params.api_base) === undefined) return `Weir has no provider ${quoted(service)}.`
  const reason = `Weir has no provider ${quoted(service)}; its address is used as an OpenAI-compatible one.`
  notes.add(`${path}.model`, reason)
  return { kind: 'openai-compatible', model }
}

/** The part before the first slash, if LiteLLM knows it, or the provider that is guessed from the name of the model. */
function splitModel(
  text: string,
  customProvider: string | undefined,
): { readonly service?: string; readonly model: string } {
  const slash = text.indexOf('/')
  const prefix = text.slice(0, Math.max(0, slash))
  const model = text.slice(slash + 1)
  if (customProvider !== undefined && customProvider !== prefix)
    return { service: customProvider, model: text }
  if (prefix !== '' && isKnown(prefix)) return { service: prefix, model }
  const guessed = customProvider ?? guessedService(text)
  return guessed === undefined && prefix !== ''
    ? { service: prefix, model }
    : { service: guessed, model: text }
}

function isKnown(service: string): boolean {
  return [services, specialServices, unsupportedServices].some((table) => Object.hasOwn(table, service))
}

/** LiteLLM knows these models without a prefix. */
function guessedService(model: string): string | undefined {
  if (model === '*' || /^(gpt-|o\d|chatgpt-|ft:gpt-|text-embedding-|dall-e|whisper-|tts-)/.test(model))
    return 'openai'
  if (model.startsWith('claude-')) return 'anthropic'
  if (model.startsWith('gemini-')) return 'vertex_ai'
  return ['openai', 'anthropic'].find((author) =>
    catalog.models.some(({ slug }) => slug === `${author}/${model}`),
  )
}
