"""deepwave's call: the same numbers as deepwave's, and gradients that are those of the numbers."""

import numpy as np
import pytest
import terrane
from terrane.compat import deepwave


def ricker(frequency, count, dt):
    square = (np.pi * frequency * (np.arange(count) * dt - 1.2 / frequency)) ** 2
    return (1 - 2 * square) * np.exp(-square)


def survey(random, shape=(30, 34), dt=0.001, count=120, shots=2, receivers=3):
    """Of rock that changes smoothly; two sources a shot with wavelets of their own."""
    axes = np.meshgrid(*(np.linspace(0, 3, n) for n in shape), indexing="ij")
    v = 2000 + 100 * np.sin(sum((a + 1) * x for a, x in enumerate(axes)))
    f = np.stack([np.stack([ricker(18, count, dt), 0.5 * ricker(22, count, dt)])] * shots)
    f[1:] *= 0.7
    inner = np.array(shape) - 6
    cells = random.integers(6, inner, (shots, 2 + receivers, len(shape)))
    return v, {"grid_spacing": 10.0, "dt": dt, "source_amplitudes": f, "source_locations": cells[:, :2],
               "receiver_locations": cells[:, 2:], "pml_width": 8}


@pytest.mark.parametrize("words", [{}, {"courant_number": 0.25}, {"courant_number": 0.2, "freq_taper_frac": 0.1,
                                                                 "time_pad_frac": 0.3, "time_taper": True}])
def test_the_adjoint_of_amplitudes_is_the_transpose_of_the_waves(random, words):
    v, call = survey(random)
    amplitudes, locations = call.pop("source_amplitudes"), call.pop("source_locations")
    at = call.pop("receiver_locations")
    made = deepwave._Call(v, call["grid_spacing"], call["dt"], [amplitudes, locations, None], 4, 8, 20.0, None,
                          dict(words))
    assert made.resampling.ratio == (1 if not words else 2)
    recorders = made.recorders_at((at, None), "receivers")
    recorded = made.recorded(recorders, deepwave._model)
    slope = random.standard_normal(recorded.shape)
    back = made.of_amplitudes(recorders, slope, deepwave._model)
    np.testing.assert_allclose((back * amplitudes).sum(), (slope * recorded).sum(), rtol=1e-11)
    change = made.of_rock(recorders, slope)
    scattered = made.recorded(recorders, lambda waves: waves.born(-2 / v**3))
    np.testing.assert_allclose(change.sum(), (slope * scattered).sum(), rtol=1e-11)


def test_resampling_there_is_the_transpose_of_that_back(random):
    for ratio, samples in ((2, 15), (3, 16), (2, 1), (4, 2)):
        for words in ((0, 0, False), (0.3, 0.5, True)):
            one = deepwave._Resampling(ratio, *words)
            x, y = random.standard_normal(samples), random.standard_normal(samples * ratio)
            np.testing.assert_allclose(one.up(x) @ y, ratio * x @ one.down(y), atol=1e-13)


def test_masks_channels_and_batches_are_the_same_waves(random):
    v, call = survey(random)
    usual = deepwave.scalar(v, **call)
    assert usual._fields == ("wavefield_0", "wavefield_m1", "auxiliary_state", "receiver_amplitudes")
    f, s, r = (call.pop(f"{name}") for name in ("source_amplitudes", "source_locations", "receiver_locations"))
    channels = deepwave.scalar(v, sources={"u": (f, s)}, receivers={"u": r}, **call)
    np.testing.assert_array_equal(channels[-1], usual[-1])
    batched = deepwave.scalar(np.stack([v, v]), sources={"u": (f, s)}, receivers={"u": r}, **call)
    np.testing.assert_allclose(batched[-1], usual[-1], atol=1e-13 * abs(usual[-1]).max())
    mask = np.array([[True, False], [True, True]])
    masked = deepwave.scalar(v, sources={"u": (f, s, mask)}, receivers={"u": (r, ~np.eye(2, 3, dtype=bool))}, **call)
    away = s.copy()
    away[0, 1] = deepwave.IGNORE_LOCATION
    ignored = deepwave.scalar(v, sources={"u": (f, away)}, receivers={"u": r}, **call)
    np.testing.assert_array_equal(ignored[-1] * ~np.eye(2, 3, dtype=bool)[..., None], masked[-1])
    assert not np.allclose(masked[-1][0], usual[-1][0]) and (masked[-1][1, 1] == 0).all()
    longer = deepwave.scalar(v, sources={"u": (f, s)}, receivers={"u": r}, nt=130, **call)[-1]
    assert longer.shape[-1] == 130
    np.testing.assert_allclose(longer[..., :120], usual[-1], atol=1e-13 * abs(usual[-1]).max())


def test_what_cannot_be_the_same_is_refused_and_what_changes_nothing_is_not(random):
    v, call = survey(random)
    idle = {"python_backend": "eager", "backend": "compiled", "storage_mode": "cpu", "storage_compression": True,
            "model_gradient_sampling_interval": 4, "checkpoint_segments": 3, "callback_frequency": 2,
            "location_interpolation": "none", "boundary": "pml", "forward_callback": None}
    np.testing.assert_array_equal(deepwave.scalar(v, **call, **idle)[-1], deepwave.scalar(v, **call)[-1])
    for other, message in (({"forward_callback": print}, "forward_callback"), ({"boundary": "free"}, "pml_width = 0"),
                           ({"initial_state": {}, "wavefield_0": np.ones(3)}, "not supported"),
                           ({"location_interpolation": "hicks"}, "in cells"), ({"survey_pad": 0}, "survey_pad"),
                           ({"receivers": {"p": 1}}, "another channel"), ({"source_mask": [[True]]}, "their mask"),
                           ({"v": v[None, None]}, "in 2 dimensions"), ({"v": v * np.nan}, "not finite"),
                           ({"courant_number": 3.0, "dt": 0.01}, "not stable"),
                           ({"source_locations": object()}, "no array")):
        with pytest.raises(terrane.Error, match=message):
            deepwave.scalar(**{"v": v, **call, **other})
    for places, message in (((10.0,), "takes v, grid_spacing"), ((v, 10.0, 0.001, 3), "takes v, grid_spacing")):
        with pytest.raises(terrane.InputError, match=message):
            deepwave.scalar_born(v, *places)
    born = {name: value for name, value in call.items() if name not in ("grid_spacing", "dt")}
    for other, message in (({}, "dv: missing"), ({"dv": v[1:]}, "has shape"),
                           ({"dv": v, "sc_receiver_locations": born["receiver_locations"]}, "the same")):
        with pytest.raises(terrane.Error, match=message):
            deepwave.scalar_born(v, 10.0, 0.001, **born, **other)


# ---- with torch ----


def tensors(torch, call):
    return {name: torch.tensor(value) if isinstance(value, np.ndarray) else value for name, value in call.items()}


@pytest.mark.parametrize("courant", [0.6, 0.25])
def test_gradients_of_torch_are_differences_of_the_misfit(random, courant):
    torch = pytest.importorskip("torch")
    v, call = survey(random)
    call = {**tensors(torch, call), "courant_number": courant}
    rock, f = torch.tensor(v, requires_grad=True), call.pop("source_amplitudes").requires_grad_()

    def misfit(rock, f):
        return (deepwave.scalar(rock, source_amplitudes=f, **call)[-1] ** 2).sum()

    misfit(rock, f).backward()
    change = torch.zeros(v.shape, dtype=torch.float64)
    change[1:-1, 1:-1] = torch.tensor(random.standard_normal(np.array(v.shape) - 2))
    louder = f.detach() * torch.tensor(random.standard_normal((*f.shape[:2], 1)))
    with torch.no_grad():
        up, down = (misfit(rock + s * change, f) for s in (0.05, -0.05))
        assert float((rock.grad * change).sum()) == pytest.approx(float(up - down) / 0.1, rel=1e-6)
        up, down = (misfit(rock, f + s * louder) for s in (0.5, -0.5))
        assert float((f.grad * louder).sum()) == pytest.approx(float(up - down), rel=1e-10)
    assert not deepwave.scalar(rock.detach(), source_amplitudes=f.detach(), **call)[-1].requires_grad


def test_gradients_of_born_waves_are_those_of_linear_waves(random):
    torch = pytest.importorskip("torch")
    v, call = survey(random)
    call = tensors(torch, call)
    h, dt = call.pop("grid_spacing"), call.pop("dt")
    f = call.pop("source_amplitudes").requires_grad_()
    dv = torch.tensor(random.standard_normal(v.shape), requires_grad=True)
    call["bg_receiver_locations"] = call["receiver_locations"][:, :1]

    def recorded(dv, f):
        return deepwave.scalar_born(torch.tensor(v), h, dt, dv=dv, source_amplitudes=f, **call)[-2:]

    below, scattered = recorded(dv, f)
    weights = [torch.tensor(random.standard_normal(one.shape)) for one in (below, scattered)]
    sum((one * weight).sum() for one, weight in zip((below, scattered), weights)).backward()
    # Waves are linear in f, and scattered ones in dv: each is its slope times itself.
    of_scattered = float((scattered * weights[1]).sum().detach())
    assert float((dv.detach() * dv.grad).sum()) == pytest.approx(of_scattered, rel=1e-10)
    assert float((f.detach() * f.grad).sum()) == pytest.approx(of_scattered + float((below * weights[0]).sum().detach()), rel=1e-10)
    with pytest.raises(terrane.UnsupportedError, match="second derivatives"):
        deepwave.scalar_born(torch.tensor(v, requires_grad=True), h, dt, dv=dv, source_amplitudes=f, **call)
    with pytest.raises(terrane.UnsupportedError, match="has no gradient here"):
        deepwave.scalar(torch.tensor(v), torch.tensor(10.0, requires_grad=True), dt, source_amplitudes=f, **call)


def test_gradients_of_batches_and_of_single_precision_have_their_kind(random):
    torch = pytest.importorskip("torch")
    v, call = survey(random)
    call = tensors(torch, call)
    both, one = (torch.tensor(rock, requires_grad=True) for rock in (np.stack([v, v]), v))
    for rock in (both, one):
        (deepwave.scalar(rock, **call)[-1] ** 2).sum().backward()
    torch.testing.assert_close(both.grad.sum(0), one.grad, rtol=1e-10, atol=1e-12 * float(one.grad.abs().max()))
    single = torch.tensor(v, dtype=torch.float32, requires_grad=True)
    recorded = deepwave.scalar(single, **call)[-1]
    assert recorded.dtype == torch.float32
    (recorded**2).sum().backward()
    assert single.grad.dtype == torch.float32
    assert float((single.grad - one.grad).abs().max() / one.grad.abs().max()) < 1e-5


# ---- deepwave beside it ----


def apart(ours, theirs, where=...):
    ours, theirs = (np.asarray(one.detach() if hasattr(one, "detach") else one)[where] for one in (ours, theirs))
    return abs(ours - theirs).max() / abs(theirs).max()


@pytest.mark.peers
@pytest.mark.parametrize("accuracy", [2, 4, 6, 8])
@pytest.mark.parametrize("shape, dt, length", [((60, 64), 0.001, 0.3), ((60, 64), 0.0035, 0.3),
                                               ((20, 24, 22), 0.0025, 0.15)])
@pytest.mark.filterwarnings("ignore")
def test_waves_and_gradients_are_deepwaves(random, shape, dt, length, accuracy):
    """Layers are made alike but four cells further out: receivers differ by what layers reflect, measured at order 4 as
    1e-5 of the largest sample with 20 cells, 1e-4 with 10. Of the gradient the cells at the edge differ, whose v
    deepwave carries on into layers; so would scattered waves, and dv is zero there."""
    torch, theirs = pytest.importorskip("torch"), pytest.importorskip("deepwave")
    v, call = survey(random, shape, dt, round(length / dt), receivers=4)
    call = {**tensors(torch, call), "pml_width": 20 if len(shape) == 2 else 10, "pml_freq": 18.0, "accuracy": accuracy}
    f = call.pop("source_amplitudes")
    inner = tuple(slice(1, -1) for _ in shape)
    dv = np.zeros(shape)
    dv[inner] = random.standard_normal(np.array(shape) - 2)
    found = []
    for module in (deepwave, theirs):
        rock, sent = torch.tensor(v, requires_grad=True), f.clone().requires_grad_()
        recorded = module.scalar(rock, source_amplitudes=sent, **call)
        (recorded[-1] ** 2).sum().backward()
        change, again = torch.tensor(dv, requires_grad=True), f.clone().requires_grad_()
        other = {name: value for name, value in call.items() if name not in ("grid_spacing", "dt")}
        at = other.pop("receiver_locations")
        born = module.scalar_born(torch.tensor(v), 10.0, dt, dv=change, source_amplitudes=again,
                                  sc_receiver_locations=at, bg_receiver_locations=at[:, :2], **other)
        (born[-1] ** 2).sum().backward()
        assert len(recorded) == 4 and len(born) == 7
        found.append((recorded[-1], rock.grad[inner], sent.grad, born[-2], born[-1], change.grad[inner], again.grad))
    differences = [apart(*both) for both in zip(*found)]
    bounds = np.array([2e-4, 5e-5, 2e-4, 2e-4, 2e-4, 5e-4, 1e-3]) * (1 if len(shape) == 2 else 10)
    print(shape, dt, accuracy, [f"{d:.1e}" for d in differences])
    assert all(difference < bound for difference, bound in zip(differences, bounds)), differences


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_bare_sides_reflect_as_deepwaves(random):
    torch, theirs = pytest.importorskip("torch"), pytest.importorskip("deepwave")
    v, call = survey(random, (40, 44), count=300)
    call = {**tensors(torch, call), "pml_width": 0, "pml_freq": 18.0}
    ours, other = (module.scalar(torch.tensor(v), **call)[-1] for module in (deepwave, theirs))
    assert apart(ours, other) < 1e-12


@pytest.mark.peers
@pytest.mark.parametrize("words, bound", [({}, 1e-12), ({"time_pad_frac": 0.3}, 1e-12),
                                          ({"freq_taper_frac": 0.2}, 1e-6), ({"time_taper": True}, 1e-6)])
@pytest.mark.filterwarnings("ignore")
def test_series_between_steps_are_deepwaves(random, words, bound):
    """deepwave's windows are of single precision."""
    torch, theirs = pytest.importorskip("torch"), pytest.importorskip("deepwave")
    v, call = survey(random, (40, 44), 0.0035, 86)
    call = {**tensors(torch, call), "pml_width": 0, "pml_freq": 18.0, **words}
    ours, other = (module.scalar(torch.tensor(v), **call)[-1] for module in (deepwave, theirs))
    assert apart(ours, other) < bound
