/** Where responses are asked for. */
export const responsesPath = '/v1/responses'
