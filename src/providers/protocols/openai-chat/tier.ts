/** The service tier of the interface for a provider's word; null for the words that it does not know. */
export function parseTier(word: string): 'default' | 'priority' | null {
  return word === 'default' || word === 'priority' ? word : null
}
