import { type Fields, isObject } from '../../../lib/json/json.ts'
import { nameSet } from '../../../lib/text.ts'
import type { Warn } from '../protocol.ts'

/**
 * Request properties that are sent to no provider, whatever its kind: a compatible base URL may be that of any router.
 * The request was priced and reserved for one model and its tokens, and the operator's key pays for it.
 */
const withheldFields = nameSet(
  // Choice of another model or provider. OpenRouter, Vercel and other routers:
  'models route provider provideroptions preset router prefer model_fallbacks',
  // LiteLLM, which also accepts another base URL and another key:
  'fallbacks fallback_models context_window_fallbacks content_policy_fallbacks model_list num_retries',
  'custom_llm_provider api_base base_url api_key api_version deployment_id',
  // Models and tools of Groq's compound systems:
  'compound_custom',
  // Containers of any other property, also of those in this table:
  'extra_body extra_headers extra_query',
  // Searches and tools that run at the provider and are billed per call. OpenAI, OpenRouter, Anthropic:
  'web_search_options plugins transforms server_tools mcp_servers container',
  // Those of xAI, Groq and Perplexity mostly begin with `search_`; these are the others of Perplexity, Qwen and Ernie:
  'return_images return_related_questions media_response num_search_results enable_search_classifier',
  'enable_search web_search',
  // Azure calls a search service of the operator, or a second model for images:
  'data_sources datasources enhancements',
  // A second model that moderates the conversation at a price of its own. Together, Snowflake, LiteLLM, Bedrock:
  'safety_model guardrails guardrail_config guardrailconfig amazon-bedrock-guardrailconfig',
  // Audio and images, which have other prices and are not part of a reply:
  'modalities audio image_config image_generation',
  // OpenAI bills predicted tokens that the response does not use, beyond `max_tokens`:
  'prediction speculation',
  // More choices than `n`, or longer ones than `max_tokens`. vLLM, llama.cpp, older engines:
  'best_of use_beam_search num_return_sequences num_completions n_cmpl',
  'n_predict num_predict max_new_tokens max_output_tokens max_tokens_to_sample max_length',
  // Anthropic bills speed and region at a higher price:
  'speed inference_geo',
  // Deferred responses, which are fetched later and not metered. xAI, OpenAI:
  'deferred background',
)

/**
 * Fields by which providers and inference engines (vLLM, SGLang, TensorRT-LLM, llama.cpp, Ollama, LM Studio, MLX and others) serve another
 * model or another prompt than those of the request, or one request before others, whatever API the request came in by. Adapters are in `isEngineField`.
 */
const engineFields = nameSet(
  // The prompt in another form, which is not counted:
  'prompt input inputs prompt_embeds prompt_token_ids prompt_ids input_ids input_embeds inputs_embeds token_ids',
  'token_data raw_prompt use_raw_prompt',
  // Templates, which can repeat the messages, and prompts that are stored at the engine:
  'chat_template chat_template_str custom_chat_template template prompt_template instruction_template',
  'instruction_template_str character',
  // The context of another request:
  'context id_slot slot_id session_params conversation_params previous_response_id kv_transfer_params',
  'disaggregated_params bootstrap_host bootstrap_port bootstrap_room',
  // What a provider keeps for the account of the gateway. OpenAI, Azure, Mistral, Gemini and others:
  'conversation conversation_id thread_id assistant_id agent_id prompt_id cached_content cachedcontent',
  'file_id file_ids vector_store_id vector_store_ids knowledge_base_id knowledge_base_ids connector_id connectors',
  // The place in the queue of an engine, and names of requests there, which others may have:
  'priority request_id rid',
  // A second model, the tools of an engine, and code that it runs:
  'draft_model assistant_model speculative_model integrations custom_logit_processor logits_processors',
  // Containers of such fields:
  'options parameters sampling_params generation_config',
)

/** Whether an inference engine would serve another model or prompt for a property of this name, in any case of its letters. */
export function isEngineField(name: string): boolean {
  const folded = fold(name)
  return engineFields.has(folded) || /^(lora|adapter)/.test(folded)
}

/** Fields whose properties engines read like fields of the request: vLLM takes a template from the arguments of its template. */
const engineContainers = nameSet('chat_template_kwargs nvext vllm_xargs google')

/** Fields of chat completions that only the gateway sets: some providers ignore the case of field names. */
const chatFields = nameSet(
  'model messages stream stream_options tools tool_choice parallel_tool_calls response_format',
  'max_tokens max_completion_tokens n stop temperature top_p seed frequency_penalty presence_penalty',
  'logit_bias reasoning_effort service_tier user',
)

/**
 * The extra properties of a request without the withheld ones, which are ignored with a warning: among them are
 * `gatewayFields`, the fields that only the gateway sets.
 */
export function withoutWithheld(
  extras: Fields,
  warn: Warn,
  gatewayFields: ReadonlySet<string> = chatFields,
): Fields {
  const ignored = new Set<string>()
  for (const name in extras) if (isWithheld(name, gatewayFields)) ignored.add(name)
  for (const name of ignored) if (extras[name] !== null) warn({ what: 'Parameter', name })
  const kept = ignored.size === 0 ? extras : without(extras, ignored)
  return withoutNested(kept, warn)
}

function without(fields: Fields, names: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)))
}

/** The fields without those of engines in their containers. */
function withoutNested(fields: Fields, warn: Warn): Fields {
  let kept = fields
  for (const container in fields) {
    const value = fields[container]
    if (!isObject(value) || !engineContainers.has(fold(container))) continue
    const names = Object.keys(value).filter(isEngineField)
    for (const name of names) warn({ what: 'Parameter', name: `${container}.${name}` })
    if (names.length > 0) kept = { ...kept, [container]: without(value, new Set(names)) }
  }
  return kept
}

function isWithheld(name: string, gatewayFields: ReadonlySet<string>): boolean {
  const folded = fold(name)
  if (withheldFields.has(folded) || gatewayFields.has(folded) || folded.startsWith('search_')) return true
  return isEngineField(name)
}

/** Folded both ways: case-insensitive parsers read `ſ` as an s. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase()
}
