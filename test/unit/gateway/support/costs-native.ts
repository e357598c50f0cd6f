import type { Pricing } from '../../../../src/config/model-details.ts'
import type { CostCase } from './costs-case.ts'
import { candidate, message } from './provider-bodies.ts'

const claude: Pricing = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }
const flash: Pricing = { input: 0.3, output: 2.5, cache_read: 0.03 }

/** Responses of Anthropic, each with its cost at the prices beside it. */
export const anthropicCosts: readonly CostCase[] = [
  {
    name: 'Anthropic, read from its cache and written to it for five minutes',
    kind: 'anthropic',
    pricing: claude,
    bodies: message(
      {
        input_tokens: 120,
        cache_read_input_tokens: 10_000,
        cache_creation_input_tokens: 2000,
        cache_creation: { ephemeral_5m_input_tokens: 2000, ephemeral_1h_input_tokens: 0 },
        output_tokens: 4,
      },
      { output_tokens: 350 },
    ),
    parts: [
      [120n, 3000n],
      [10_000n, 300n],
      [2000n, 3750n],
      [350n, 15_000n],
    ],
    cost: 16_110_000n,
  },
  {
    name: 'Anthropic, written to its cache for an hour, and counted anew at the end',
    kind: 'anthropic',
    pricing: claude,
    bodies: message(
      {
        input_tokens: 10,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 4000,
        cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 3000 },
        output_tokens: 1,
      },
      { input_tokens: 50, output_tokens: 100, output_tokens_details: { thinking_tokens: 60 } },
    ),
    parts: [
      [50n, 3000n],
      [1000n, 3750n],
      [3000n, 6000n],
      [100n, 15_000n],
    ],
    cost: 23_400_000n,
  },
]

/** Responses of Google, likewise. */
export const googleCosts: readonly CostCase[] = [
  {
    name: 'Gemini, with thoughts beside the answer and cached tokens inside the prompt',
    kind: 'gemini',
    pricing: flash,
    bodies: candidate(
      {
        promptTokenCount: 3000,
        candidatesTokenCount: 40,
        totalTokenCount: 3040,
        cachedContentTokenCount: 2048,
      },
      {
        promptTokenCount: 3000,
        candidatesTokenCount: 120,
        thoughtsTokenCount: 380,
        totalTokenCount: 3500,
        cachedContentTokenCount: 2048,
      },
    ),
    parts: [
      [952n, 300n],
      [2048n, 30n],
      [500n, 2500n],
    ],
    cost: 1_597_040n,
  },
  {
    name: 'Gemini, with what its tools read, which lifts the prompt into the higher tier',
    kind: 'vertex',
    pricing: { input: 1.25, output: 10, tiers: [{ above: 200_000, input: 2.5, output: 15 }] },
    bodies: candidate(
      { promptTokenCount: 190_000, totalTokenCount: 190_000 },
      {
        promptTokenCount: 190_000,
        toolUsePromptTokenCount: 10_001,
        candidatesTokenCount: 100,
        thoughtsTokenCount: 50,
        totalTokenCount: 200_151,
      },
    ),
    parts: [
      [200_001n, 2500n],
      [150n, 15_000n],
    ],
    cost: 502_252_500n,
  },
]
