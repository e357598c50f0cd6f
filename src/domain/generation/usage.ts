/** Token counts of one request. */
export type Usage = {
  /** The tokens of the prompt, cached and newly cached ones included. */
  readonly promptTokens: number
  /** The tokens of the answer, reasoning included. */
  readonly completionTokens: number
  /** The part of the prompt that was read from a cache. */
  readonly cachedTokens?: number
  /** The part of the prompt that was written to a cache, one-hour writes included. */
  readonly cacheWriteTokens?: number
  /** The part of the cache writes that is stored for an hour. */
  readonly longCacheWriteTokens?: number
  readonly reasoningTokens?: number
  readonly promptAudioTokens?: number
  readonly completionAudioTokens?: number
}
