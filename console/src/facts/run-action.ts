import { api } from '../session.ts'

/** An action of a component over a configuration that need not be saved. */
export const runAction = <T>(componentId: string, action: string, configData: string): Promise<T> =>
  api.call('syncActions.run', { body: { componentId, action, configData } }) as Promise<T> // the component's own answer
