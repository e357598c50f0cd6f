import type { Pricing } from '../../../../src/config/model-details.ts'
import type { CostCase } from './costs-case.ts'
import {
  completion,
  completionWithFinalUsage,
  completionWithUsageAtFinish,
  finishChunk,
  response,
} from './provider-bodies.ts'

const claude: Pricing = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }
const mini: Pricing = { input: 0.25, output: 2, cache_read: 0.025 }
const oss: Pricing = { input: 0.15, output: 0.6, cache_read: 0.075 }

const groqUsage = {
  prompt_tokens: 400,
  completion_tokens: 100,
  total_tokens: 500,
  prompt_tokens_details: { cached_tokens: 256 },
  completion_tokens_details: { reasoning_tokens: 70 },
}
const routerUsage = {
  prompt_tokens: 1500,
  completion_tokens: 200,
  total_tokens: 1700,
  cost: 0.99,
  prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 400 },
}
const sonarUsage = (completion_tokens: number) => {
  return { prompt_tokens: 20, completion_tokens, total_tokens: 20 + completion_tokens }
}

/** Responses of OpenAI-compatible providers, each with its cost at the prices beside it. */
export const chatCosts: readonly CostCase[] = [
  {
    name: 'OpenAI, with reasoning inside the answer',
    kind: 'openai',
    pricing: mini,
    bodies: completionWithFinalUsage({
      prompt_tokens: 2006,
      completion_tokens: 300,
      total_tokens: 2306,
      prompt_tokens_details: { cached_tokens: 1920, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 256 },
    }),
    parts: [
      [86n, 250n],
      [1920n, 25n],
      [300n, 2000n],
    ],
    cost: 669_500n,
  },
  {
    name: 'OpenAI by its Responses API',
    kind: 'openai',
    responses: true,
    pricing: { input: 1.25, output: 10, cache_read: 0.125 },
    bodies: response({
      input_tokens: 5000,
      input_tokens_details: { cached_tokens: 4608 },
      output_tokens: 700,
      output_tokens_details: { reasoning_tokens: 512 },
      total_tokens: 5700,
    }),
    parts: [
      [392n, 1250n],
      [4608n, 125n],
      [700n, 10_000n],
    ],
    cost: 8_066_000n,
  },
  {
    name: 'DeepSeek, which names the hits of its cache',
    kind: 'deepseek',
    pricing: { input: 0.28, output: 0.42, cache_read: 0.028 },
    bodies: completionWithUsageAtFinish({
      prompt_tokens: 1000,
      completion_tokens: 90,
      total_tokens: 1090,
      prompt_cache_hit_tokens: 640,
      prompt_cache_miss_tokens: 360,
      completion_tokens_details: { reasoning_tokens: 60 },
    }),
    parts: [
      [360n, 280n],
      [640n, 28n],
      [90n, 420n],
    ],
    cost: 156_520n,
  },
  {
    name: 'xAI, which counts its reasoning in the total only',
    kind: 'xai',
    pricing: { input: 0.2, output: 0.5, cache_read: 0.05 },
    bodies: completionWithFinalUsage({
      prompt_tokens: 700,
      completion_tokens: 40,
      total_tokens: 1040,
      prompt_tokens_details: { cached_tokens: 512 },
      completion_tokens_details: { reasoning_tokens: 300 },
    }),
    parts: [
      [188n, 200n],
      [512n, 50n],
      [340n, 500n],
    ],
    cost: 233_200n,
  },
  {
    name: 'OpenRouter, which repeats the finish with the usage, and whose own price is not ours',
    kind: 'openrouter',
    pricing: claude,
    bodies: completion(routerUsage, finishChunk(), finishChunk({ usage: routerUsage })),
    parts: [
      [200n, 3000n],
      [900n, 300n],
      [400n, 3750n],
      [200n, 15_000n],
    ],
    cost: 5_370_000n,
  },
  {
    name: 'Groq, which tells the usage in two places at once',
    kind: 'groq',
    pricing: oss,
    bodies: completion(groqUsage, finishChunk({ x_groq: { usage: groqUsage }, usage: groqUsage }), {
      choices: [],
      usage: groqUsage,
    }),
    parts: [
      [144n, 150n],
      [256n, 75n],
      [100n, 600n],
    ],
    cost: 100_800n,
  },
  {
    name: 'Mistral',
    kind: 'mistral',
    pricing: { input: 0.1, output: 0.3, cache_read: 0.01 },
    bodies: completionWithUsageAtFinish({
      prompt_tokens: 93,
      completion_tokens: 29,
      total_tokens: 122,
      prompt_tokens_details: { cached_tokens: 16 },
    }),
    parts: [
      [77n, 100n],
      [16n, 10n],
      [29n, 300n],
    ],
    cost: 16_560n,
  },
  {
    name: 'Together, whose cached tokens stand by themselves',
    kind: 'together',
    pricing: oss,
    bodies: completionWithUsageAtFinish({
      prompt_tokens: 410,
      completion_tokens: 15,
      total_tokens: 425,
      cached_tokens: 400,
    }),
    parts: [
      [10n, 150n],
      [400n, 75n],
      [15n, 600n],
    ],
    cost: 40_500n,
  },
  {
    name: 'Perplexity, which counts anew in every chunk and takes a price for each request',
    kind: 'perplexity',
    pricing: { input: 1, output: 1, request: 0.005 },
    bodies: completion(
      sonarUsage(50),
      { choices: [], usage: sonarUsage(30) },
      finishChunk({ usage: sonarUsage(50) }),
    ),
    parts: [
      [20n, 1000n],
      [50n, 1000n],
      [1n, 5_000_000n],
    ],
    cost: 5_070_000n,
  },
]
