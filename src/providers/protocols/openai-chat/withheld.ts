import type { Fields } from '../../../lib/json/json.ts'
import type { Warn } from '../protocol.ts'

/**
 * Properties of a caller that no provider is sent, whatever its kind: a compatible address may be that of any router.
 * The call was priced and reserved for one model and its tokens alone, and it is paid with the operator's key.
 */
const withheld = namesIn(
  // They choose another model, or another provider of it. OpenRouter, Vercel and other routers:
  'models route provider provideroptions preset router prefer model_fallbacks',
  // Engines that serve adapters of a model beside it:
  'adapter adapter_id adapter_source',
  // LiteLLM, which takes another address and another key as well:
  'fallbacks fallback_models context_window_fallbacks content_policy_fallbacks model_list num_retries',
  'custom_llm_provider api_base base_url api_key api_version deployment_id',
  // Groq's compound systems choose their models and tools:
  'compound_custom',
  // They hold any other property, those of this table too:
  'extra_body extra_headers extra_query',
  // Searches and tools that run at the provider are paid by the call. OpenAI, OpenRouter, Anthropic:
  'web_search_options plugins transforms server_tools mcp_servers container',
  // Those of xAI, Groq and Perplexity mostly begin with `search_`; the others of Perplexity, Qwen and Ernie:
  'return_images return_related_questions media_response num_search_results enable_search_classifier',
  'enable_search web_search',
  // Azure asks a search service of the operator, or has a second model look at images:
  'data_sources datasources enhancements',
  // A second model judges the conversation, at a price of its own. Together, Snowflake, LiteLLM, Bedrock:
  'safety_model guardrails guardrail_config guardrailconfig amazon-bedrock-guardrailconfig',
  // Sounds and pictures have other prices, and are no part of a reply:
  'modalities audio image_config image_generation',
  // OpenAI charges the predicted tokens that the answer does not use, beyond `max_tokens`:
  'prediction',
  // More answers are generated than `n` says, or longer ones than `max_tokens` does. vLLM, llama.cpp, older engines:
  'best_of use_beam_search num_return_sequences num_completions',
  'n_predict num_predict max_new_tokens max_output_tokens max_tokens_to_sample max_length',
  // Anthropic sells speed and place at a higher price:
  'speed inference_geo',
  // The answer is fetched later, and nobody counts it. xAI, OpenAI:
  'deferred background',
)

/** Fields that only the gateway writes: some providers read a name in any case as the same. */
const own = namesIn(
  'model messages stream stream_options tools tool_choice parallel_tool_calls response_format',
  'max_tokens max_completion_tokens n stop temperature top_p seed frequency_penalty presence_penalty',
  'logit_bias reasoning_effort service_tier user',
)

function namesIn(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(' ')))
}

/** The unnamed properties of a request that may go to a provider; what may not is ignored with a warning. */
export function withoutWithheld(extras: Fields, warn: Warn): Fields {
  const ignored = new Set<string>()
  for (const name in extras) if (isWithheld(name)) ignored.add(name)
  if (ignored.size === 0) return extras
  for (const name of ignored) if (extras[name] !== null) warn({ what: 'Parameter', name })
  return Object.fromEntries(Object.entries(extras).filter(([name]) => !ignored.has(name)))
}

function isWithheld(name: string): boolean {
  // Both ways: readers that ignore case take `ſ` for an s.
  const folded = name.toUpperCase().toLowerCase()
  return withheld.has(folded) || own.has(folded) || folded.startsWith('search_')
}
