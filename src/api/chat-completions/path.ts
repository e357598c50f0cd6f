/** Where chat completions are asked for. */
export const chatPath = '/v1/chat/completions'
