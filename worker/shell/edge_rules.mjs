// The rules by which the entry answers clients. They decide in the instance of the objects, where nothing waits between two calls. So one that
// traps is replaced, and no other request is lost; the object answers the request that trapped.
import * as engine from "glue/engine";
import { describeError, log } from "./log.mjs";

/** Calls of the entry; each returns undefined where it fails. */
export const edgeRules = {
  prepare: (requestId, project, ...rest) => attempt(requestId, project, () => engine.prepareEdgeRules(project, ...rest)),
  forget: (requestId, project) => attempt(requestId, project, () => engine.forgetEdgeRules(project)),
  addGoods: (requestId, project, ...rest) => attempt(requestId, project, () => engine.addEdgeGoods(project, ...rest)),
  decide: (requestId, project, ...rest) => attempt(requestId, project, () => engine.decideAtEdge(project, ...rest)),
};

function attempt(requestId, project, call) {
  try {
    return call();
  } catch (error) {
    log("edge_decision_failed", { object: project, request_id: requestId, error: describeError(error) });
    try {
      engine.ready();
    } catch (worse) {
      log("engine_lost", { object: project, request_id: requestId, error: describeError(worse) });
    }
    return undefined;
  }
}
