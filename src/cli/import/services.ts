import { catalog } from '../../config/catalog.ts'
import { textOf } from '../../lib/json/json.ts'
import { nameSet } from '../../lib/text.ts'
import { type Part, quoted } from './source.ts'
import { specialServices, type Translation } from './special-services.ts'

/** Translates `litellm_params.model` and its address; returns a sentence where Weir cannot call the deployment. */
export function findService(part: Part): Translation | string {
  const { fields: params, path, notes } = part
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
  if (known === undefined) return unknownService(service, model, part)
  const { kind, baseUrl, keyVariable } = known
  return { kind, model, defaultBaseUrl: baseUrl, keyVariable }
}

/** Most servers with an address of their own are compatible with OpenAI. */
function unknownService(service: string, model: string, part: Part): Translation | string {
  const { fields, path, notes } = part
  if (textOf(fields.api_base) === undefined) return `Weir has no provider ${quoted(service)}.`
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

/** A service that LiteLLM calls by a prefix of the model, and that Weir calls by its OpenAI-compatible API or its own. */
type Service = {
  readonly kind: string
  /** The address that LiteLLM uses by default, where Weir's kind has none. */
  readonly baseUrl?: string
  /** The variable that LiteLLM takes the key from, where it is not the one of Weir's kind. */
  readonly keyVariable?: string
}

/** The services whose prefix is the name of Weir's kind. */
const sameNames = 'anthropic groq mistral deepseek xai openrouter cerebras gemini zai perplexity'

/** The services by their prefix. Those whose addresses or models need a translation are in `special-services.ts`. */
const services: Readonly<Record<string, Service>> = {
  ...Object.fromEntries([...nameSet(sameNames)].map((kind) => [kind, { kind }])),
  together_ai: { kind: 'together' },
  lm_studio: { kind: 'lmstudio' },
  hosted_vllm: { kind: 'vllm' },
  llamafile: { kind: 'llamacpp' },
  custom_openai: { kind: 'openai-compatible' },
  openai_like: { kind: 'openai-compatible' },
  litellm_proxy: compatible(undefined, 'LITELLM_PROXY_API_KEY'),
  xinference: { kind: 'openai-compatible' },
  nvidia_nim: compatible('https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY'),
  deepinfra: compatible('https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'),
  sambanova: compatible('https://api.sambanova.ai/v1', 'SAMBANOVA_API_KEY'),
  volcengine: compatible('https://ark.cn-beijing.volces.com/api/v3', 'VOLCENGINE_API_KEY'),
  meta_llama: compatible('https://api.llama.com/compat/v1', 'LLAMA_API_KEY'),
  ai21_chat: compatible('https://api.ai21.com/studio/v1', 'AI21_API_KEY'),
  codestral: compatible('https://codestral.mistral.ai/v1', 'CODESTRAL_API_KEY'),
  friendliai: compatible('https://api.friendli.ai/serverless/v1', 'FRIENDLI_TOKEN'),
  galadriel: compatible('https://api.galadriel.com/v1', 'GALADRIEL_API_KEY'),
  github: compatible('https://models.inference.ai.azure.com', 'GITHUB_API_KEY'),
  moonshot: compatible('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'),
  novita: compatible('https://api.novita.ai/v3/openai', 'NOVITA_API_KEY'),
  minimax: compatible('https://api.minimax.io/v1', 'MINIMAX_API_KEY'),
  morph: compatible('https://api.morphllm.com/v1', 'MORPH_API_KEY'),
  lambda_ai: compatible('https://api.lambda.ai/v1', 'LAMBDA_API_KEY'),
  v0: compatible('https://api.v0.dev/v1', 'V0_API_KEY'),
  vercel_ai_gateway: compatible('https://ai-gateway.vercel.sh/v1', 'VERCEL_AI_GATEWAY_API_KEY'),
  scaleway: compatible('https://api.scaleway.ai/v1', 'SCW_SECRET_KEY'),
  veniceai: compatible('https://api.venice.ai/api/v1', 'VENICE_AI_API_KEY'),
  aihubmix: compatible('https://aihubmix.com/v1', 'AIHUBMIX_API_KEY'),
  hyperbolic: compatible('https://api.hyperbolic.xyz/v1', 'HYPERBOLIC_API_KEY'),
  dashscope: compatible('https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'DASHSCOPE_API_KEY'),
}

function compatible(baseUrl: string | undefined, keyVariable: string): Service {
  return { kind: 'openai-compatible', baseUrl, keyVariable }
}

/** Services with an API of their own, which no other sentence is about. */
const ownApis = `
  aleph_alpha aws_polly bytez clarifai cloudflare elevenlabs fal_ai infinity jina_ai langgraph
  maritalk nlp_cloud oci oobabooga predibase runwayml sap topaz triton voyage`

/** Services of LiteLLM whose own API Weir does not speak, with what to do instead where there is something. */
const unsupportedServices: Readonly<Record<string, string>> = {
  sagemaker: 'Weir does not call SageMaker.',
  sagemaker_chat: 'Weir does not call SageMaker.',
  cohere: 'Weir does not speak the API of Cohere; use its OpenAI-compatible address as openai-compatible.',
  cohere_chat:
    'Weir does not speak the API of Cohere; use its OpenAI-compatible address as openai-compatible.',
  replicate: 'Weir does not speak the API of Replicate.',
  watsonx: 'Weir does not speak the API of watsonx.',
  databricks:
    'Add Databricks as a provider of kind openai-compatible, with the address of its serving endpoints.',
  vllm: 'Weir calls vLLM as a server: use the prefix hosted_vllm and its address.',
  ...Object.fromEntries(
    [...nameSet(ownApis)].map((name) => [name, `Weir does not speak the API of ${name}.`]),
  ),
  petals: 'Weir does not run models itself.',
  'text-completion-codestral': 'Weir does not support completions with Mistral.',
  azure_text: 'Weir does not support completions with Azure.',
  auto_router: 'Weir does not choose a model by the content of the prompt.',
}
